import { Buffer } from "node:buffer";
import type { Duplex, Readable } from "node:stream";
import { ProbeFailure } from "../failure.ts";
import { bodyText } from "./body_text.ts";
import { brotliFailure, decoderFor, decodingFailure, encodingsOf } from "./content_encoding.ts";
import { beforeGarbage } from "./gzip_members.ts";
import type { ReceivedHeader } from "./head_lines.ts";

/** No more of a body is read than this, in bytes after decoding, unless less is wanted. */
export const BODY_LIMIT = 64 * 1024;

/**
 * What a body that is encoded more than once may unpack to between two of its encodings, in bytes. One that takes more for less than the
 * limit at the end unpacks to nothing, at the cost of everybody's time.
 */
const BETWEEN_LIMIT = 16 * BODY_LIMIT;

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
  let kept: Uint8Array[] = [];
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
    const sent = sentBytes(source, first);
    for (const encoding of encodings) {
      const decoder = decoderFor(encoding, first);
      const outer = decoders.at(-1);
      decoder.on("error", (error) => {
        const whole = encodings.length === 1 && /gzip$/.test(encoding) ? beforeGarbage(sent() ?? first, limit) : null;
        if (whole === null) return finish(decodingFailure(encoding, error));
        kept = [whole];
        finish();
      });
      if (outer !== undefined) {
        outer.on("data", limitBetween(finish));
        outer.pipe(decoder);
      }
      decoders.push(decoder);
    }
    const [outer, inner] = [decoders[0], decoders.at(-1)];
    if (outer === undefined || inner === undefined) return;
    inner.on("data", keep);
    inner.once("end", () => {
      const whole = encodings[0] === "br" ? sent() : null;
      if (whole === null) finish();
      else brotliFailure(whole).then(finish, () => finish());
    });
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
    source.once("data", () => finish(error));
    source.once("end", () => finish());
  }
  return finish;
}

/**
 * Keeps what is sent of a body that is encoded, for a second look at its end. Of a longer one only the beginning could be, which says
 * nothing.
 *
 * @returns Gives all the bytes, or null if there were more than the limit of a body.
 */
function sentBytes(source: Readable, first: Uint8Array): () => Uint8Array | null {
  const sent = [first];
  let size = first.length;
  source.on("data", (chunk: Uint8Array) => {
    size += chunk.length;
    if (size <= BODY_LIMIT) sent.push(chunk);
  });
  return () => size > BODY_LIMIT ? null : Buffer.concat(sent);
}

function limitBetween(finish: (failure: ProbeFailure) => void): (chunk: Uint8Array) => void {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    if (size > BETWEEN_LIMIT) {
      finish(
        new ProbeFailure("body.decode", `the body unpacks to more than ${BETWEEN_LIMIT} bytes between two encodings`),
      );
    }
  };
}
