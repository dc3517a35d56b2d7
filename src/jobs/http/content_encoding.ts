import type { Duplex } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { errorCode, errorText, ProbeFailure } from "../failure.ts";
import type { ReceivedHeader } from "./head_lines.ts";

/** The content codings that are undone here, as they are offered in Accept-Encoding. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/** Bodies encoded more often than this are bombs. */
const ENCODINGS_LIMIT = 3;

/** Makes the decoder for a body that begins with `first`. */
type MakeDecoder = (first: Uint8Array) => Duplex;

const DECODERS: Readonly<Record<string, MakeDecoder>> = {
  "gzip": () => createGunzip(),
  "x-gzip": () => createGunzip(),
  "br": () => createBrotliDecompress(),
  // RFC 9110 means zlib by "deflate", and half of the servers that send it do not.
  "deflate": (first) => ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw(),
};

/** Codings that were not asked for and cannot be undone. Other labels, such as "utf-8" or "none", are mistakes, and mean nothing. */
const FOREIGN_ENCODINGS = new Set(["zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"]);

/**
 * The codings of a body, in the order in which they have to be undone.
 *
 * @throws {ProbeFailure} `body.decode` if one of them cannot be undone.
 */
export function encodingsOf(headers: readonly ReceivedHeader[]): string[] {
  const listed = headers.filter(([name]) => name === "content-encoding" || name === "transfer-encoding");
  const labels = listed.flatMap(([, value]) => value.toLowerCase().split(",").map((label) => label.trim()));
  const foreign = labels.find((label) => FOREIGN_ENCODINGS.has(label));
  if (foreign !== undefined) {
    throw new ProbeFailure("body.decode", `the body is encoded with ${foreign}, which was not asked for`);
  }

  const encodings = labels.filter((label) => Object.hasOwn(DECODERS, label)).reverse();
  if (encodings.length > ENCODINGS_LIMIT) {
    throw new ProbeFailure("body.decode", `the body is encoded ${encodings.length} times over`);
  }
  return encodings;
}

/** The decoder for one coding of {@link encodingsOf}. */
export function decoderFor(encoding: string, first: Uint8Array): Duplex {
  const make = DECODERS[encoding];
  if (make === undefined) throw new RangeError(`there is no decoder for ${encoding}`);
  return make(first);
}

/** What a decoder's error says of the body. */
export function decodingFailure(encoding: string, error: unknown): ProbeFailure {
  if (errorCode(error) === "Z_BUF_ERROR") return truncated(encoding);
  return new ProbeFailure("body.decode", `the body is labelled ${encoding} and is not: ${errorText(error)}`);
}

/**
 * Looks whether a brotli stream came whole, which node:zlib does not say: it ends a stream that was cut as if it were complete.
 *
 * @param sent The compressed bytes. What they decode to must be known to be small, since it is held in memory.
 */
export async function brotliFailure(sent: Uint8Array): Promise<ProbeFailure | undefined> {
  const decoder = new DecompressionStream("brotli" as CompressionFormat);
  try {
    await new Response(new Blob([new Uint8Array(sent)]).stream().pipeThrough(decoder)).arrayBuffer();
    return undefined;
  } catch (error) {
    // It could not take the bytes after the end, which browsers pass over.
    return /write whole buffer/.test(errorText(error)) ? undefined : truncated("br");
  }
}

function truncated(encoding: string): ProbeFailure {
  return new ProbeFailure("body.truncated", `the body ended in the middle of its ${encoding} encoding`);
}
