import { Buffer } from "node:buffer";
import { crc32, inflateRawSync } from "node:zlib";

/** Flags of a gzip header (RFC 1952, 2.3.1). */
const HEADER_CHECK = 2;
const EXTRA = 4;
const NAME = 8;
const COMMENT = 16;

/** The method, and length of what is always there, of a header; and the length of what follows the data. */
const DEFLATE = 8;
const HEADER_LENGTH = 10;
const TRAILER_LENGTH = 8;

/**
 * What a gzip stream holds before bytes that do not belong to it. Browsers pass over such bytes, which servers send when something writes
 * to an answer after its compressor; the decoder of node:zlib fails on them and loses what came before.
 *
 * @param sent The whole stream so far.
 * @param limit The most that is unpacked, in bytes.
 * @returns Null if it does not begin with a whole member, or holds more than the limit.
 */
export function beforeGarbage(sent: Uint8Array, limit: number): Uint8Array | null {
  const bytes = Buffer.from(sent);
  const members: Uint8Array[] = [];
  let size = 0;
  let at = 0;
  for (;;) {
    const member = memberAt(bytes, at, limit - size);
    if (member === null) break;
    members.push(member.data);
    size += member.data.length;
    at = member.end;
  }
  return members.length === 0 ? null : Buffer.concat(members);
}

function memberAt(bytes: Buffer, start: number, limit: number): { data: Uint8Array; end: number } | null {
  const dataAt = dataStart(bytes, start);
  if (dataAt === null) return null;
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(dataAt), {
      info: true,
      maxOutputLength: Math.max(limit, 1),
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    const trailer = dataAt + engine.bytesWritten;
    if (trailer + TRAILER_LENGTH > bytes.length || bytes.readUInt32LE(trailer) !== crc32(buffer)) return null;
    return { data: buffer, end: trailer + TRAILER_LENGTH };
  } catch {
    return null;
  }
}

/** Where the data of a member begins, after its header; null if there is no whole header. */
function dataStart(bytes: Buffer, start: number): number | null {
  if (bytes[start] !== 0x1f || bytes[start + 1] !== 0x8b || bytes[start + 2] !== DEFLATE) return null;
  const flags = bytes[start + 3] ?? 0;
  let at = start + HEADER_LENGTH;
  if ((flags & EXTRA) !== 0) {
    if (at + 2 > bytes.length) return null;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [NAME, COMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return null;
    at = end + 1;
  }
  if ((flags & HEADER_CHECK) !== 0) at += 2;
  return at < bytes.length ? at : null;
}
