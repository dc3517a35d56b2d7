import { ProbeFailure } from "../failure.ts";

/** Header names and lines are shown in messages up to this many characters. */
export const EXCERPT_LENGTH = 80;

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: .*)?$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// deno-lint-ignore no-control-regex -- these are the bytes that RFC 9110 5.5 forbids in a header
const FORBIDDEN_IN_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** A header as it was received, its name in lower case, its bytes read as Latin-1. */
export type ReceivedHeader = readonly [name: string, value: string];

/** The status line and headers of an answer, and their lines, which the HTTP parser reads again. */
export interface ParsedHead {
  status: number;
  headers: ReceivedHeader[];
  /** As received, without their ends. */
  lines: string[];
}

/**
 * Reads the lines of a head strictly: what does not conform is refused by name, since clients differ in what they make of it.
 *
 * @param text Up to its empty line, that included.
 * @throws {ProbeFailure} `protocol` or `protocol.header`.
 */
export function parseHead(text: string): ParsedHead {
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
export function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value[start])) start++;
  while (end > start && isBlank(value[end - 1])) end--;
  return value.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** Names the header of a line in a message. */
function headerLabel(line: string): string {
  const [name = ""] = line.split(":", 1);
  return `the header ${excerpt(name)}`;
}

/** What a server said, in a message. */
export function excerpt(text: string): string {
  return JSON.stringify(text.slice(0, EXCERPT_LENGTH));
}
