/**
 * A load of GET requests over kept-alive connections, from raw sockets, so that asking costs less than answering. Answers each command
 * with what came of it; ends with its standard input.
 */
import { answerLines } from "./program.ts";

/** A round of load. */
export interface LoadRound {
  port: number;
  path: string;
  /** Kept open for the round, each with one request at a time. */
  connections: number;
  /** How long, in ms. */
  ms: number;
}

/** What came of a round. */
export interface LoadResult {
  requests: number;
  /** From the first request to the last answer. */
  ms: number;
  /** Of one answer, head included. */
  bytes: number;
}

const decoder = new TextDecoder();

/** @throws {Error} If an answer is not 200 with a Content-Length. */
async function load({ port, path, connections, ms }: LoadRound): Promise<LoadResult> {
  const request = new TextEncoder().encode(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept-Encoding: gzip\r\n\r\n`,
  );
  const startedAt = performance.now();
  const endsAt = startedAt + ms;
  let requests = 0;
  let bytes = 0;

  async function ask(): Promise<void> {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connection.setNoDelay(true);
    const buffer = new Uint8Array(1 << 16);
    while (performance.now() < endsAt) {
      await connection.write(request);
      let received = 0;
      let length = Infinity;
      while (received < length) {
        // What is beyond the head is counted and forgotten.
        const count = await connection.read(length === Infinity ? buffer.subarray(received) : buffer);
        if (count === null) throw new Error(`The connection ended after ${requests} answers.`);
        received += count;
        if (length === Infinity) length = lengthOf(buffer.subarray(0, received));
      }
      requests += 1;
      bytes = received;
    }
  }

  await Promise.all(Array.from({ length: connections }, ask));
  return { requests, ms: performance.now() - startedAt, bytes };
}

/** Of a whole answer, from what has come of it; Infinity while its head is not there. */
function lengthOf(received: Uint8Array): number {
  const text = decoder.decode(received.subarray(0, 4096));
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return Infinity;
  const length = /^HTTP\/1\.1 200 [^]*?\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, end + 2))?.[1];
  if (length === undefined) throw new Error(`Not an answer that can be counted: ${text.slice(0, end)}`);
  return end + 4 + Number(length);
}

if (import.meta.main) await answerLines<LoadRound>({}, load);
