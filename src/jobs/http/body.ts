import { Buffer } from "node:buffer";
import type { Duplex, Readable } from "node:stream";
import { ProbeFailure } from "../failure.ts";
import { brotliFailure, decoderFor, decodingFailure, encodingsOf } from "./content_encoding.ts";
import type { ReceivedHeader } from "./response_head.ts";

/** No more of a body is read than this, in bytes after decoding, unless less is wanted. */
export const BODY_LIMIT = 64 * 1024;

/** The body of an answer as far as it was read. */
export interface Body {
  text: string;
  /** Whether there was more than the limit. */
  capped: boolean;
  /** What was wrong with it; `text` holds what came before. */
  failure?: ProbeFailure;
}

/**
 * Collects a body until it ends, breaks or reaches the limit, and decodes it while it comes in: neither an endless body nor one that
 * unpacks to gigabytes takes more memory than a few buffers.
 *
 * @param source The body as it was sent. It stays the caller's to destroy.
 * @param done Gets the body, once.
 * @param limit In bytes after decoding.
 * @returns A function that ends the collection with a failure, for when the connection breaks.
 */
export function collectBody(
  source: Readable,
  headers: readonly ReceivedHeader[],
  done: (body: Body) => void,
  limit: number = BODY_LIMIT,
): (failure: ProbeFailure) => void {
  const kept: Uint8Array[] = [];
  const decoders: Duplex[] = [];
  let size = 0;
  let finished = false;

  function finish(failure?: ProbeFailure): void {
    if (finished) return;
    finished = true;
    source.unpipe();
    for (const decoder of decoders) decoder.destroy();
    const text = bodyText(Buffer.concat(kept).subarray(0, limit), headers, size > limit);
    done({ text, capped: size > limit, ...(failure === undefined ? {} : { failure }) });
  }

  function keep(chunk: Uint8Array): void {
    if (finished) return;
    kept.push(chunk);
    size += chunk.length;
    if (size > limit) finish();
  }

  function decode(encodings: string[], first: Uint8Array): void {
    for (const encoding of encodings) {
      const decoder = decoderFor(encoding, first);
      decoder.on("error", (error) => finish(decodingFailure(encoding, error)));
      decoders.at(-1)?.pipe(decoder);
      decoders.push(decoder);
    }
    const [outer, inner] = [decoders[0], decoders.at(-1)];
    if (outer === undefined || inner === undefined) return;
    inner.on("data", keep);
    inner.once("end", encodings[0] === "br" ? wholeBrotli(source, first, finish) : () => finish());
    outer.write(first);
    source.pipe(outer);
  }

  try {
    const encodings = encodingsOf(headers);
    if (encodings.length === 0) {
      source.on("data", keep);
      source.once("end", () => finish());
    } else {
      // No decoder before the first byte: an empty body is empty in every encoding, whatever its label says.
      source.once("data", (first: Uint8Array) => decode(encodings, first));
      source.once("end", () => {
        if (decoders.length === 0) finish();
      });
    }
  } catch (error) {
    if (!(error instanceof ProbeFailure)) throw error;
    finish(error);
  }
  return finish;
}

/** Keeps what is sent of a brotli body, to see at its end whether it came whole. A longer one is not kept, and passes. */
function wholeBrotli(source: Readable, first: Uint8Array, finish: (failure?: ProbeFailure) => void): () => void {
  const sent = [first];
  let size = first.length;
  source.on("data", (chunk: Uint8Array) => {
    size += chunk.length;
    if (size <= BODY_LIMIT) sent.push(chunk);
  });
  return () => {
    if (size > BODY_LIMIT) return finish();
    brotliFailure(sent).then(finish, () => finish());
  };
}

/** Reads bytes as text in the charset of the Content-Type, or in UTF-8. A character that the limit cut through is left out. */
function bodyText(bytes: Uint8Array, headers: readonly ReceivedHeader[], cut: boolean): string {
  const contentType = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? "utf-8";
  return decoderOf(charset).decode(bytes, { stream: cut });
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
