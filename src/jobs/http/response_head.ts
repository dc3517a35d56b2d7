import { Buffer } from "node:buffer";
import { ProbeFailure } from "../failure.ts";
import { isChunked, plainFraming } from "./framing.ts";
import { excerpt, EXCERPT_LENGTH, parseHead } from "./head_lines.ts";

/** Status line and headers of an answer, interim answers included, may take this many bytes. */
export const HEAD_LIMIT = 128 * 1024;

/** An end of a head that is not complete may have this many bytes of it. */
const END_LENGTH = 2;

// deno-lint-ignore no-control-regex -- an alert or a handshake record of TLS 1.x
const TLS_RECORD = /^[\x15\x16]\x03/;

/** A head that is complete. */
export interface ReadHead {
  /** The bytes that the HTTP parser may have. Interim answers are left out, and a doubtful but unambiguous framing is a plain one. */
  bytes: Uint8Array;
  /** The bytes that came after it. */
  rest: Uint8Array;
  /** Whether these are chunks. */
  isChunked: boolean;
}

/** Reads the head of an answer while its bytes come in. */
export interface HeadReader {
  /**
   * Takes the next bytes from the connection, as long as the head is not complete.
   *
   * @returns The head, once it is complete.
   * @throws {ProbeFailure} `protocol`, `protocol.header` or `protocol.header_too_large`.
   */
  push(chunk: Uint8Array): ReadHead | null;
  /** How many bytes of a head that is not complete are held. */
  pending(): number;
  /** Oddities of the head. */
  readonly warnings: string[];
}

/**
 * Stands before node's parser, which refuses a bad head without saying which header is bad, and refuses two framings that RFC 9112 6.3
 * tells a client how to read: equal Content-Lengths, and a Content-Length beside a Transfer-Encoding. Everything that does not conform
 * in the headers is refused here, since clients differ in what they make of it.
 */
export function headReader(): HeadReader {
  const warnings: string[] = [];
  /** The bytes of the head that is not complete, in the pieces in which they came. */
  let pieces: string[] = [];
  let held = 0;
  /** The first bytes of that head, and its last ones, in which its end may have begun. */
  let start = "";
  let tail = "";
  let consumed = 0;

  /** Takes text until a head is complete; gives back the head and what came after it, or null. */
  function takeHead(received: string): { head: string; rest: string } | null {
    const text = held === 0 ? received.replace(/^[\r\n]+/, "") : received;
    start += text.slice(0, EXCERPT_LENGTH - start.length);
    refuseOtherProtocols(start);
    const searched = tail + text;
    const end = endOfHead(searched);
    pieces.push(text);
    const length = held + (end < 0 ? text.length : end - tail.length);
    if (consumed + length > HEAD_LIMIT) {
      throw new ProbeFailure("protocol.header_too_large", `the headers take more than ${HEAD_LIMIT} bytes`);
    }
    held += text.length;
    tail = searched.slice(-END_LENGTH);
    if (end < 0) return null;

    const whole = pieces.join("");
    consumed += length;
    [pieces, held, start, tail] = [[], 0, "", ""];
    return { head: whole.slice(0, length), rest: whole.slice(length) };
  }

  function push(chunk: Uint8Array): ReadHead | null {
    let text = latin1(chunk);
    while (true) {
      const taken = takeHead(text);
      if (taken === null) return null;
      const { status, headers, lines } = plainFraming(parseHead(taken.head), warnings);
      if (status >= 200 || status === 101) {
        return {
          bytes: Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"),
          rest: chunk.subarray(chunk.length - taken.rest.length),
          isChunked: isChunked(headers),
        };
      }
      text = taken.rest;
    }
  }

  return { push, pending: () => held, warnings };
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Where the head ends, after its empty line; negative if that line is not there yet. */
function endOfHead(text: string): number {
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (text[at + 1] === "\n") return at + 2;
    if (text[at + 1] === "\r" && text[at + 2] === "\n") return at + 3;
  }
  return -1;
}

/** Refuses at once what is not HTTP/1, instead of waiting for an end of headers that will not come. */
function refuseOtherProtocols(text: string): void {
  const expected = "HTTP/1.";
  if (expected.startsWith(text.slice(0, expected.length))) return;
  const speaks = TLS_RECORD.test(text)
    ? "it speaks TLS; the URL may have to begin with https://"
    : `it begins with ${excerpt(text)}`;
  throw new ProbeFailure("protocol", `the answer is not HTTP/1: ${speaks}`);
}
