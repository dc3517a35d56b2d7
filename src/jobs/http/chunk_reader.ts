import { Buffer } from "node:buffer";
import { ProbeFailure } from "../failure.ts";

/** A size with more digits than this, zeros in front left out, is no size. */
const SIZE_DIGITS = 13;

/** Fewer bytes than this are copied faster one by one. */
const SMALL_COPY = 32;

const [TAB, LF, CR, SPACE, SEMICOLON] = [0x09, 0x0a, 0x0d, 0x20, 0x3b];

/** What of a chunked body is read next. */
type State = "size" | "extension" | "data" | "data end" | "trailer" | "over";

/** Reads a chunked body while its bytes come in. */
export interface ChunkReader {
  /**
   * Takes the next bytes of the body.
   *
   * @returns The same body in as few chunks as can be: the data of all chunks in these bytes as one. Extensions and trailers are left out.
   * @throws {ProbeFailure} `protocol` if chunks cannot be told apart.
   */
  push(bytes: Uint8Array): Uint8Array;
}

/**
 * Stands before node's parser, which calls back for every chunk: a server that sends single bytes made a probe work for half a second, and
 * fifty of them made all others wait for twenty. Blanks after a size are passed over, as browsers do; old servers pad with them.
 */
export function chunkReader(): ChunkReader {
  let state: State = "size";
  /** The hex digits of a size, and whether blanks have ended them. */
  let digits = "";
  let isPadded = false;
  /** Bytes of data that the chunk still has, and of its line end that have been seen. */
  let left = 0;
  let ended = 0;
  /** The line of a trailer so far. Only whether it is empty, or no header, matters. */
  let line = "";

  function takeSize(byte: number): void {
    if (byte === CR) [state, ended] = ["extension", 1];
    else if (byte === SEMICOLON) state = "extension";
    else if (byte === SPACE || byte === TAB) isPadded = true;
    else if (!isPadded && isHexDigit(byte)) digits = (digits === "0" ? "" : digits) + String.fromCharCode(byte);
    else throw invalid(`${shown(byte)} in the size of a chunk`);
    if (digits === "") throw invalid("a chunk without a size");
    if (digits.length > SIZE_DIGITS) throw invalid("the size of a chunk is too large");
  }

  /** Up to the end of the line of a size. */
  function takeExtension(byte: number): void {
    if ((byte === LF) !== (ended === 1)) throw invalid("the size of a chunk does not end with CR LF");
    if (byte === CR) ended = 1;
    if (byte !== LF) return;
    left = parseInt(digits, 16);
    state = left === 0 ? "trailer" : "data";
    [digits, isPadded, ended] = ["", false, 0];
  }

  function takeDataEnd(byte: number): void {
    if (byte !== (ended === 0 ? CR : LF)) throw invalid("a chunk has more data than its size");
    ended += 1;
    if (ended === 2) [state, ended] = ["size", 0];
  }

  /** Of a trailer only the name is kept, as far as it is needed to see whether it is one. */
  function takeTrailer(byte: number): boolean {
    if (byte !== LF) {
      if (line.length < 100 && !line.includes(":")) line += String.fromCharCode(byte);
      return false;
    }
    if (line === "\r") return true;
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,99}:/.test(line)) throw invalid("a trailer is no header");
    line = "";
    return false;
  }

  function push(bytes: Uint8Array): Uint8Array {
    const data = new Uint8Array(bytes.length);
    let size = 0;
    let isLast = false;
    let at = 0;
    while (at < bytes.length && state !== "over") {
      if (state === "data") {
        const end = Math.min(at + left, bytes.length);
        left -= end - at;
        if (left === 0) state = "data end";
        if (end - at < SMALL_COPY) { while (at < end) data[size++] = bytes[at++] ?? 0; }
        else {
          data.set(bytes.subarray(at, end), size);
          [size, at] = [size + end - at, end];
        }
        continue;
      }
      const byte = bytes[at++] ?? 0;
      if (state === "size") takeSize(byte);
      else if (state === "extension") takeExtension(byte);
      else if (state === "data end") takeDataEnd(byte);
      else if (takeTrailer(byte)) [state, isLast] = ["over", true];
    }
    return oneChunk(data.subarray(0, size), isLast);
  }

  return { push };
}

function oneChunk(data: Uint8Array, isLast: boolean): Uint8Array {
  const parts: Uint8Array[] = [];
  if (data.length > 0) parts.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n"));
  if (isLast) parts.push(Buffer.from("0\r\n\r\n"));
  return Buffer.concat(parts);
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function shown(byte: number): string {
  return byte > SPACE && byte < 0x7f ? JSON.stringify(String.fromCharCode(byte)) : `the byte 0x${byte.toString(16)}`;
}

function invalid(what: string): ProbeFailure {
  return new ProbeFailure("protocol", `the body is not valid HTTP: ${what}`);
}
