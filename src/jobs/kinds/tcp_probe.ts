import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Expansion } from "../../secrets.ts";
import { within } from "../deadline.ts";
import { dial, type DialContext } from "../dial.ts";
import { errorCode, errorText, isRuntimeError, ProbeFailure, RuntimeFault } from "../failure.ts";
import type { Observation } from "../observation.ts";
import { addTime } from "../trail.ts";
import { type TlsConfig, tlsSettings } from "../tls_settings.ts";
import type { Facts } from "./facts.ts";
import { hostAndPort } from "./host_and_port.ts";

/** What a TCP check does once it is connected. */
export interface TcpConfig {
  /** Sent as it is, in UTF-8, after the connection stands. */
  send?: string | null;
  /** Whether to read what the server sends. Default: no. */
  expect?: boolean;
  /** Whether to shake hands first, and how. Default: no. */
  tls?: boolean | TlsConfig | null;
  insecure?: boolean;
}

/** No more is read than this, in bytes. */
const RECEIVED_LIMIT = 4096;
/**
 * A server that sent something is read from until it has been silent for twice as long as its first byte took, within these bounds, in ms.
 * SQL judges what came, so that the probe cannot know when it has enough, and waiting for the deadline would make each check of
 * a server that keeps its connections open as long as its timeout.
 */
const SHORTEST_SILENCE_MS = 250;
const LONGEST_SILENCE_MS = 2000;

/**
 * Connects to a port, shakes hands, sends and reads, as far as the configuration asks for it.
 *
 * What was read is complete up to 4 KiB, the end of the connection, a silence of the server after its first bytes, or the deadline, whatever
 * comes first. It is a failure only if nothing came at all. The total is the time to the last byte received, without the silence.
 *
 * @throws {ProbeFailure} For anything that keeps the target from being connected to, or from sending something if it is to.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function probeTcp(
  target: string,
  config: TcpConfig,
  expansion: Expansion,
  context: DialContext,
): Promise<Facts> {
  const { tls = false } = config;
  const socket = await dial({
    ...hostAndPort(expansion.text(target)),
    ...(tls === false || tls === null
      ? {}
      : { tls: { ...tlsSettings(tls === true ? {} : tls, config.insecure === true, expansion), alpn: [] } }),
  }, context);
  try {
    if (config.send) socket.write(expansion.text(config.send));
    if (config.expect !== true) {
      // Written to the end before the connection is closed, so that what is sent arrives.
      if (config.send) await flushed(socket, context);
      return { observed: { connected: true } };
    }
    const { bytes, capped, totalMs } = await received(socket, context);
    return { observed: { connected: true, ...receivedText(bytes, capped, expansion) }, totalMs };
  } finally {
    socket.destroy();
  }
}

/** Waits until all that was written is with the system. */
async function flushed(socket: Socket, { deadline }: DialContext): Promise<void> {
  deadline.phase = "expect";
  await within<void>(deadline.signal, (resolve, reject) => {
    socket.once("error", (error) => reject(brokenConnection(error)));
    socket.end(() => resolve());
    return () => {};
  });
}

interface Received {
  bytes: Uint8Array;
  capped: boolean;
  /** When the last byte came, in ms since the start of the probe. */
  totalMs: number;
}

async function received(socket: Socket, { deadline, trail }: DialContext): Promise<Received> {
  const startedAt = performance.now();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let totalMs = 0;
  let silenceMs = SHORTEST_SILENCE_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hasEnough = () => size > RECEIVED_LIMIT;

  deadline.phase = "expect";
  try {
    await within<void>(deadline.signal, (resolve, reject) => {
      socket.on("data", (chunk: Uint8Array) => {
        if (hasEnough()) return;
        if (size === 0) {
          const firstByteMs = performance.now() - startedAt;
          addTime(trail, "first_byte", firstByteMs);
          silenceMs = Math.min(Math.max(2 * firstByteMs, SHORTEST_SILENCE_MS), LONGEST_SILENCE_MS);
        }
        chunks.push(chunk);
        size += chunk.length;
        totalMs = deadline.elapsed();
        clearTimeout(timer);
        if (hasEnough()) resolve();
        else timer = setTimeout(resolve, silenceMs);
      });
      socket.once("error", (error) => size > 0 ? resolve() : reject(brokenConnection(error)));
      socket.once("close", () => size > 0 ? resolve() : reject(closedSilently(socket)));
      socket.once("end", () => size > 0 ? resolve() : reject(closedSilently(socket)));
      return () => clearTimeout(timer);
    });
  } catch (error) {
    // A server that never pauses has been read for as long as there was time.
    if (size === 0 || !(error instanceof ProbeFailure)) throw error;
  } finally {
    clearTimeout(timer);
  }
  return { bytes: joined(chunks, RECEIVED_LIMIT), capped: hasEnough(), totalMs };
}

function joined(chunks: readonly Uint8Array[], limit: number): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let filled = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return bytes.subarray(0, limit);
}

function closedSilently(socket: Socket): ProbeFailure {
  const how = socket instanceof TLSSocket ? "finished the TLS handshake" : "took the connection";
  return new ProbeFailure("tcp.closed", `the server ${how} and closed it without sending anything`);
}

function brokenConnection(error: unknown): Error {
  if (isRuntimeError(error)) return new RuntimeFault(`cannot read from here: ${errorText(error)}`);
  if (errorCode(error) === "ECONNRESET" || errorCode(error) === "EPIPE") {
    return new ProbeFailure("connect.reset", "the server reset the connection");
  }
  return new ProbeFailure("tcp.closed", `the connection broke: ${errorText(error)}`);
}

/** What is no text, and would not get through a database, becomes U+FFFD; line ends and tabs stay. */
function receivedText(bytes: Uint8Array, capped: boolean, expansion: Expansion): Partial<Observation> {
  // A character that the limit cut in two is not the server's fault.
  const text = new TextDecoder().decode(bytes, { stream: capped });
  // deno-lint-ignore no-control-regex -- they are what is looked for
  const printable = text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "\ufffd");
  return {
    received: capped ? expansion.redactCut(printable) : expansion.redact(printable),
    ...(capped ? { received_capped: true } : {}),
    ...(printable.includes("\ufffd") ? { binary: true as const } : {}),
  };
}
