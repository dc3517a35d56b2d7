import { Buffer } from "node:buffer";
import { ProbeFailure } from "../failure.ts";

/** Status line and headers of an answer, interim answers included, may take this many bytes. */
export const HEAD_LIMIT = 128 * 1024;

/** Header names and lines are shown in messages up to this many characters. */
const EXCERPT_LENGTH = 80;

/** An end of a head that is not complete may have this many bytes of it. */
const END_LENGTH = 2;

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: .*)?$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// deno-lint-ignore no-control-regex -- these are the bytes that RFC 9110 5.5 forbids in a header
const FORBIDDEN_IN_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;
// deno-lint-ignore no-control-regex -- an alert or a handshake record of TLS 1.x
const TLS_RECORD = /^[\x15\x16]\x03/;

/** A header as it was received, its name in lower case, its bytes read as Latin-1. */
export type ReceivedHeader = readonly [name: string, value: string];

/** The status line and headers of an answer. */
export interface ResponseHead {
  status: number;
  headers: ReceivedHeader[];
}

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

interface ParsedHead extends ResponseHead {
  /** The lines as received, without their ends. */
  lines: string[];
}

function parseHead(text: string): ParsedHead {
  const lines = text.split("\n");
  lines.splice(-2);
  const bare = lines.findIndex((line) => !line.endsWith("\r"));
  if (bare === 0) throw new ProbeFailure("protocol.header", "the status line does not end with CR LF");
  if (bare > 0) throw new ProbeFailure("protocol.header", `${headerLabel(lines[bare] ?? "")} does not end with CR LF`);
  const plain = lines.map((line) => line.slice(0, -1));

  const [statusLine = "", ...headerLines] = plain;
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (status === undefined) throw new ProbeFailure("protocol", `the status line is not valid: ${excerpt(statusLine)}`);
  return { status: Number(status), headers: headerLines.map(parseHeader), lines: plain };
}

function parseHeader(line: string, index: number, all: string[]): ReceivedHeader {
  if (/^[ \t]/.test(line)) {
    throw new ProbeFailure(
      "protocol.header",
      `${headerLabel(all[index - 1] ?? "")} goes on in a second line, which is not allowed`,
    );
  }
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(colon, 0));
  if (!TOKEN.test(name)) throw new ProbeFailure("protocol.header", `${headerLabel(line)} is not a valid header name`);
  const value = line.slice(colon + 1);
  if (FORBIDDEN_IN_VALUE.test(value)) {
    throw new ProbeFailure("protocol.header", `${headerLabel(line)} has a character in its value that is not allowed`);
  }
  return [name.toLowerCase(), trimmed(value)];
}

/** Takes spaces and tabs off both ends. A regular expression for the end would take a minute for a header full of spaces. */
function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value[start])) start++;
  while (end > start && isBlank(value[end - 1])) end--;
  return value.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** Chunks are what the last transfer coding says; a body whose last one is another ends with its connection (RFC 9112, 6.3). */
function isChunked(headers: readonly ReceivedHeader[]): boolean {
  const codings = headers.filter(([name]) => name === "transfer-encoding").flatMap(([, value]) => value.split(","));
  return trimmed(codings.at(-1) ?? "").toLowerCase() === "chunked";
}

/** Takes away a Content-Length that says nothing new, and refuses one that contradicts. */
function plainFraming(head: ParsedHead, warnings: string[]): ParsedHead {
  const lengths = head.headers.filter(([name]) => name === "content-length")
    .flatMap(([, value]) => value.split(",").map(trimmed));
  if (lengths.length === 0) return head;

  if (head.headers.some(([name]) => name === "transfer-encoding")) {
    warnings.push("content_length_with_transfer_encoding");
    return withoutContentLength(head, []);
  }
  const [first = ""] = lengths;
  const invalid = lengths.find((length) => !/^\d+$/.test(length));
  if (invalid !== undefined) throw new ProbeFailure("protocol", `Content-Length is not a number: ${excerpt(invalid)}`);
  if (lengths.length === 1) return head;
  if (lengths.some((length) => BigInt(length) !== BigInt(first))) {
    throw new ProbeFailure("protocol", `there are different Content-Lengths: ${excerpt(lengths.join(", "))}`);
  }
  warnings.push("content_length_repeated");
  return withoutContentLength(head, [`Content-Length: ${first}`]);
}

function withoutContentLength(head: ParsedHead, instead: string[]): ParsedHead {
  const [statusLine = "", ...headerLines] = head.lines;
  const others = headerLines.filter((_, index) => head.headers[index]?.[0] !== "content-length");
  return { ...head, lines: [statusLine, ...others, ...instead] };
}

/** Names the header of a line in a message. */
function headerLabel(line: string): string {
  const [name = ""] = line.split(":", 1);
  return `the header ${excerpt(name)}`;
}

function excerpt(text: string): string {
  return JSON.stringify(text.slice(0, EXCERPT_LENGTH));
}
