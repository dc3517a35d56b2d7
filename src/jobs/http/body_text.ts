import { Buffer } from "node:buffer";
import type { ReceivedHeader } from "./head_lines.ts";

/** Documents say their charset within this many bytes (HTML, 13.2.3.2), if at all. */
const DECLARATION_LENGTH = 1024;

const BYTE_ORDER_MARKS: readonly [mark: string, charset: string][] = [
  ["efbbbf", "utf-8"],
  ["fffe", "utf-16le"],
  ["feff", "utf-16be"],
];

/** Documents that may declare their charset themselves: `text/html`, `application/xhtml+xml`, `image/svg+xml`, and those without a type. */
const DECLARING_TYPE = /^$|html|xml/i;
const DECLARATIONS = [
  /^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)/i,
  /<meta[^>]{0,300}?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i,
];

/**
 * Reads bytes as text, as browsers do: by their byte order mark; else in the charset of the Content-Type; else in that which an HTML or XML
 * document declares; else in UTF-8. Bytes that are none become U+FFFD.
 *
 * @param cut Whether the bytes are only the beginning; a character that is cut through is then left out.
 */
export function bodyText(bytes: Uint8Array, headers: readonly ReceivedHeader[], cut: boolean): string {
  const contentType = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const decoder = byMark(bytes) ?? byType(contentType) ?? byDeclaration(bytes, contentType) ?? new TextDecoder();
  return decoder.decode(bytes, { stream: cut });
}

function byMark(bytes: Uint8Array): TextDecoder | null {
  const start = Buffer.from(bytes.subarray(0, 3)).toString("hex");
  const charset = BYTE_ORDER_MARKS.find(([mark]) => start.startsWith(mark))?.[1];
  return charset === undefined ? null : new TextDecoder(charset);
}

function byType(contentType: string): TextDecoder | null {
  const charset = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType)?.[1];
  return charset === undefined ? null : decoderOf(charset);
}

function byDeclaration(bytes: Uint8Array, contentType: string): TextDecoder | null {
  if (!DECLARING_TYPE.test(contentType.split(";", 1)[0] ?? "")) return null;
  const start = Buffer.from(bytes.subarray(0, DECLARATION_LENGTH)).toString("latin1");
  const charset = DECLARATIONS.map((declaration) => declaration.exec(start)?.[1]).find((found) => found !== undefined);
  // What could be read as ASCII so far is not UTF-16, whatever it declares.
  return charset === undefined || /^utf-?16/i.test(charset) ? null : decoderOf(charset);
}

/** Null for a charset that is not known, as if none were named. */
function decoderOf(charset: string): TextDecoder | null {
  try {
    return new TextDecoder(charset);
  } catch {
    return null;
  }
}
