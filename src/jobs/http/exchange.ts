import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { type Deadline, within } from "../deadline.ts";
import { errorCode, errorText, isRuntimeError, ProbeFailure, RuntimeFault } from "../failure.ts";
import { handshakeFailure } from "../handshake_failure.ts";
import { addTime, type Trail } from "../trail.ts";
import { type Body, BODY_LIMIT, collectBody } from "./body.ts";
import { chunkReader } from "./chunk_reader.ts";
import type { ReceivedHeader } from "./head_lines.ts";
import { HEAD_LIMIT, type HeadReader, headReader } from "./response_head.ts";

/**
 * Bytes of a connection that are read before the limit of the body is reached. No body worth reading takes so much for so little; it is
 * one that unpacks to nothing, or chunks that are all extension.
 */
const WIRE_LIMIT = HEAD_LIMIT + 16 * BODY_LIMIT;

/** A request, ready to be sent over a connection. */
export interface WireRequest {
  method: string;
  /** Path and query, in ASCII. */
  path: string;
  /** All headers but `Connection`, `Host` among them. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array | null;
}

/** An answer, as far as it was needed. */
export interface Answer {
  status: number;
  headers: readonly ReceivedHeader[];
  body?: Body;
}

/** Says, once the headers are there, whether the body is needed. */
export type WantsBody = (status: number, headers: readonly ReceivedHeader[]) => boolean;

/**
 * Sends one request over a connection and reads the answer as far as it is needed: the headers, and the body if `wantsBody` says so.
 * The connection is closed after that, whatever may still come.
 *
 * @param socket A connected socket that has an error listener. It is destroyed here, whatever happens.
 * @throws {ProbeFailure} `protocol...`, `connect.reset`, `tls.handshake`, or the reason of the deadline's signal.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function exchange(
  socket: Socket,
  request: WireRequest,
  wantsBody: WantsBody,
  { deadline, trail, bodyLimit }: { deadline: Deadline; trail: Trail; bodyLimit?: number | undefined },
): Promise<Answer> {
  deadline.phase = "headers";
  const sentAt = performance.now();
  const reader = headReader();
  let response: IncomingMessage | undefined;
  let cutBody: ((failure: ProbeFailure) => void) | undefined;

  try {
    return await within<Answer>(deadline.signal, (resolve, reject) => {
      const client = open(socket, request);

      function fail(error: unknown): void {
        // What comes after a complete answer is none of its business.
        if (response?.complete === true) return;
        if (cutBody !== undefined) return cutBody(bodyFailure(error));
        reject(answerFailure(error, reader));
      }

      function headOf(message: IncomingMessage): Answer {
        trail.status = message.statusCode ?? 0;
        return { status: trail.status, headers: receivedHeaders(message) };
      }

      function answered(message: IncomingMessage): void {
        response = message;
        message.on("error", fail);
        const head = headOf(message);
        if (!wantsBody(head.status, head.headers)) return resolve(head);
        deadline.phase = "body";
        cutBody = collectBody(message, head.headers, (body) => resolve({ ...head, body }), bodyLimit);
      }

      client.on("socket", () => {
        const begun = () => addTime(trail, "first_byte", performance.now() - sentAt);
        readThrough(socket, reader, begun, fail);
      });
      client.on("response", answered);
      // Status 101, or the success of a CONNECT: the answer is complete, and what follows is another protocol.
      client.on("upgrade", (message) => resolve(headOf(message)));
      client.on("connect", (message) => resolve(headOf(message)));
      client.on("error", fail);
      client.on("close", () => fail(null));
      client.end(request.body ?? undefined);
      return () => {
        // What came of the body before the deadline is an answer, with the deadline as what was wrong with it.
        if (deadline.signal.reason instanceof ProbeFailure) cutBody?.(deadline.signal.reason);
      };
    });
  } finally {
    for (const warning of reader.warnings) trail.warnings.add(warning);
    socket.destroy();
  }
}

function open(socket: Socket, { method, path, headers }: WireRequest): ClientRequest {
  try {
    const client = httpRequest({
      createConnection: () => socket,
      method,
      path,
      headers: headers.flat(),
      setHost: false,
      maxHeaderSize: 2 * HEAD_LIMIT,
    });
    client.maxHeadersCount = 0;
    return client;
  } catch (error) {
    throw new ProbeFailure("protocol", `the request cannot be sent: ${errorText(error)}`);
  }
}

/**
 * Puts the head reader, and the chunk reader after it, between the socket and node's parser. The parser listens for "data" like everybody
 * else, so it is taken off the socket and given what the readers let through.
 */
function readThrough(socket: Socket, reader: HeadReader, begun: () => void, fail: (error: unknown) => void): void {
  const parsers = socket.listeners("data");
  let received = 0;
  /** Null while the head is not complete. */
  let readBody: ((chunk: Uint8Array) => Uint8Array) | null = null;

  function parse(bytes: Uint8Array): void {
    if (bytes.length > 0) { for (const parser of parsers) parser.call(socket, bytes); }
  }

  function pass(chunk: Uint8Array): void {
    if (readBody !== null) return parse(readBody(chunk));
    const head = reader.push(chunk);
    if (head === null) return;
    readBody = head.isChunked ? chunkReader().push : (bytes) => bytes;
    parse(head.bytes);
    parse(readBody(head.rest));
  }

  socket.removeAllListeners("data");
  socket.on("data", (chunk: Uint8Array) => {
    if (received === 0) begun();
    received += chunk.length;
    try {
      pass(chunk);
      if (received > WIRE_LIMIT) throw new ProbeFailure("protocol", `${received} bytes came and the body went on`);
    } catch (error) {
      socket.destroy();
      fail(error);
    }
  });
}

function receivedHeaders({ rawHeaders }: IncomingMessage): ReceivedHeader[] {
  const headers: ReceivedHeader[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push([(rawHeaders[index] ?? "").toLowerCase(), rawHeaders[index + 1] ?? ""]);
  }
  return headers;
}

/** Why there are no complete headers. A null error is a connection that was closed in order. */
function answerFailure(error: unknown, reader: HeadReader): Error {
  if (error instanceof ProbeFailure) return error;
  if (isRuntimeError(error)) return new RuntimeFault(`cannot send from here: ${errorText(error)}`);
  const code = errorCode(error);
  if (code.startsWith("HPE_")) return new ProbeFailure("protocol", `the answer is not valid HTTP: ${errorText(error)}`);
  if (code.startsWith("ERR_SSL_")) return handshakeFailure(error);
  if (code === "ETIMEDOUT") {
    return new ProbeFailure("timeout.headers", "the connection was lost while waiting for the answer");
  }
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH") {
    return new ProbeFailure("connect.unreachable", errorText(error));
  }
  if (code !== "" && code !== "ECONNRESET" && code !== "EPIPE") {
    return new ProbeFailure("protocol", `the request cannot be sent: ${errorText(error)}`);
  }
  if (reader.pending() > 0) {
    return new ProbeFailure(
      "protocol",
      `the connection was closed in the middle of the headers, after ${reader.pending()} bytes of them`,
    );
  }
  return new ProbeFailure("connect.reset", "the connection was closed without an answer");
}

/** Why a body is not complete. */
function bodyFailure(error: unknown): ProbeFailure {
  if (error instanceof ProbeFailure) return error;
  if (errorCode(error).startsWith("HPE_")) {
    return new ProbeFailure("protocol", `the body is not valid HTTP: ${errorText(error)}`);
  }
  return new ProbeFailure("body.truncated", "the connection was closed in the middle of the body");
}
