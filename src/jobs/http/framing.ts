import { ProbeFailure } from "../failure.ts";
import { excerpt, type ParsedHead, type ReceivedHeader, trimmed } from "./head_lines.ts";

/** Chunks are what the last transfer coding says; a body whose last one is another ends with its connection (RFC 9112, 6.3). */
export function isChunked(headers: readonly ReceivedHeader[]): boolean {
  const codings = headers.filter(([name]) => name === "transfer-encoding").flatMap(([, value]) => value.split(","));
  return trimmed(codings.at(-1) ?? "").toLowerCase() === "chunked";
}

/** Takes away a Content-Length that says nothing new, and refuses one that contradicts. */
export function plainFraming(head: ParsedHead, warnings: string[]): ParsedHead {
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
  if (lengths.some((length) => withoutZeros(length) !== withoutZeros(first))) {
    throw new ProbeFailure("protocol", `there are different Content-Lengths: ${excerpt(lengths.join(", "))}`);
  }
  warnings.push("content_length_repeated");
  return withoutContentLength(head, [`Content-Length: ${first}`]);
}

/** Lengths beyond 2^53 would be equal as numbers that are not. */
function withoutZeros(length: string): string {
  return length.replace(/^0+(?=\d)/, "");
}

function withoutContentLength(head: ParsedHead, instead: string[]): ParsedHead {
  const [statusLine = "", ...headerLines] = head.lines;
  const others = headerLines.filter((_, index) => head.headers[index]?.[0] !== "content-length");
  return { ...head, lines: [statusLine, ...others, ...instead] };
}
