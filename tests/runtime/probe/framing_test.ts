import assert from "node:assert/strict";
import { chunkReader } from "../../../src/jobs/http/chunk_reader.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, drips, says, saysAndWaits, spells, target } from "../../support/targets.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const READ = { read_body: true };
const chunked = (chunks: string, ...headers: string[]) =>
  `${OK}${headers.map((header) => `${header}\r\n`).join("")}Transfer-Encoding: chunked\r\n\r\n${chunks}`;

for (
  const [what, said, method] of [
    ["a 204 with a Content-Length", "HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n", "GET"],
    ["a 204 with chunks announced", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "GET"],
    ["a 304 with a Content-Length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n", "GET"],
    ["a 304 that is labelled gzip", "HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n", "GET"],
    ["a 304 that is labelled br", "HTTP/1.1 304 Not Modified\r\nContent-Encoding: br\r\n\r\n", "GET"],
    ["a 205 without a body", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", "GET"],
    ["a HEAD answer with chunks announced", chunked("", "Content-Encoding: gzip"), "HEAD"],
    ["a HEAD answer that is labelled br", `${OK}Content-Encoding: br\r\nContent-Length: 99\r\n\r\n`, "HEAD"],
    ["a HEAD answer that brings a body after all", answer("200 OK", [], "body"), "HEAD"],
    ["a 500 to HEAD with a Content-Length", "HTTP/1.1 500 Oops\r\nContent-Length: 1234\r\n\r\n", "HEAD"],
  ] as const
) {
  Deno.test(`${what} has no body that could be waited for or be undone`, async () => {
    await using server = await target(saysAndWaits(said));
    const observation = await observe(server.url, { ...READ, method });
    assert.equal(observation.error, undefined, observation.error?.message);
    assert.equal(observation.body, "");
    await server.closed;
  });
}

for (
  const [what, said, body] of [
    ["sizes in capitals and with zeros", "00A\r\nhellohello\r\n000\r\n\r\n", "hellohello"],
    ["extensions, with and without values", '5;a;b=c;d="e;f"\r\nhello\r\n0;last\r\n\r\n', "hello"],
    ["sizes that are padded with blanks", "5  \r\nhello\r\n0 \t\r\n\r\n", "hello"],
    ["extensions after blanks", "5 ; a = b\r\nhello\r\n0\r\n\r\n", "hello"],
    ["trailers", "5\r\nhello\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", "hello"],
    ["no data", "0\r\n\r\n", ""],
    ["a line break as data", "2\r\n\r\n\r\n1\r\na\r\n0\r\n\r\n", "\r\na"],
  ] as const
) {
  Deno.test(`chunks with ${what} are put together, also byte by byte`, async () => {
    const bytes = new TextEncoder().encode(chunked(said));
    for (const behaviour of [saysAndWaits(bytes), spells(bytes)]) {
      await using server = await target(behaviour);
      const observation = await observe(server.url, READ);
      assertAnswered(observation, 200);
      assert.equal(observation.body, body);
    }
  });
}

for (
  const [what, chunks] of [
    ["a size in words", "five\r\nhello\r\n0\r\n\r\n"],
    ["a size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"],
    ["a size after a blank", " 5\r\nhello\r\n0\r\n\r\n"],
    ["a size in two parts", "0 5\r\nhello\r\n0\r\n\r\n"],
    ["a CR within its extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"],
    ["less data than its size", "9\r\nhello\r\n0\r\n\r\n"],
    ["a negative size", "-5\r\nhello\r\n0\r\n\r\n"],
    ["an empty size", "\r\nhello\r\n0\r\n\r\n"],
    ["a size beyond all numbers", "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"],
    ["more data than its size", "5\r\nhello world\r\n0\r\n\r\n"],
    ["line ends without CR", "5\nhello\n0\n\n"],
    ["a trailer that is no header", "5\r\nhello\r\n0\r\nX Y : z\r\n\r\n"],
  ] as const
) {
  Deno.test(`a chunk with ${what} breaks the protocol, and only for who reads the body`, async () => {
    await using server = await target(saysAndWaits(chunked(chunks)));
    const observation = await observe(server.url, READ);
    assertFailed(observation, "protocol", /body is not valid HTTP/);
    assert.equal(observation.status, 200);
    assertAnswered(await observe(server.url), 200);
  });
}

for (
  const [what, chunks] of [
    ["before its last chunk", "5\r\nhello\r\n"],
    ["within a chunk", "9\r\nhello"],
    ["within a size", "5\r\nhello\r\n1"],
    ["within the trailers", "5\r\nhello\r\n0\r\nX-A: 1\r\n"],
  ] as const
) {
  Deno.test(`a chunked body that ends ${what} is truncated, and what came is reported`, async () => {
    await using server = await target(says(chunked(chunks)));
    const observation = await observe(server.url, READ);
    assertFailed(observation, "body.truncated");
    assert.equal(observation.body, "hello");
  });
}

Deno.test("chunks of single bytes are passed on as one, so that nobody waits for who reads them", () => {
  const reader = chunkReader();
  const startedAt = performance.now();
  for (let reads = 0; reads < 50; reads++) {
    const passed = reader.push(new TextEncoder().encode("1\r\nx\r\n".repeat(10_000)));
    assert.equal(new TextDecoder().decode(passed), `2710\r\n${"x".repeat(10_000)}\r\n`);
  }
  // Passed on one by one, they took half a minute.
  assert.ok(performance.now() - startedAt < 3000, `took ${performance.now() - startedAt} ms`);
});

Deno.test("an endless body in chunks of single bytes is cut at the limit", async () => {
  await using server = await target(drips(chunked(""), "1\r\nx\r\n".repeat(10_000)));
  const observation = await observe(server.url, READ, { timeoutMs: 20_000 });
  assertAnswered(observation, 200);
  assert.equal(observation.body, "x".repeat(65_536));
  assert.equal(observation.body_capped, true);
});

Deno.test("trailers without end are cut off, long before the deadline", async () => {
  await using server = await target(drips(chunked("5\r\nhello\r\n0\r\n"), `X-Trailer: ${"v".repeat(4096)}\r\n`));
  const observation = await observe(server.url, READ, { timeoutMs: 20_000 });
  assertFailed(observation, "protocol");
  assert.ok(observation.timings.total < 10_000);
});

for (
  const [coding, said, body] of [
    ["Chunked", "5\r\nhello\r\n0\r\n\r\n", "hello"],
    ["chunked, chunked", "5\r\nhello\r\n0\r\n\r\n", "hello"],
    ["identity", "hello", "hello"],
    ["chunked, identity", "5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"],
  ] as const
) {
  Deno.test(`a Transfer-Encoding of ${coding} is read as browsers read it`, async () => {
    await using server = await target(says(`${OK}Transfer-Encoding: ${coding}\r\n\r\n${said}`));
    const observation = await observe(server.url, READ);
    assertAnswered(observation, 200);
    assert.equal(observation.body, body);
  });
}

Deno.test("a Content-Length smaller than the body ends it", async () => {
  await using server = await target(saysAndWaits(`${OK}Content-Length: 2\r\n\r\nhello`));
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body, "he");
});

for (const length of ["0005", "5 "]) {
  Deno.test(`a Content-Length of ${JSON.stringify(length)} is 5`, async () => {
    await using server = await target(saysAndWaits(`${OK}Content-Length: ${length}\r\n\r\nhello`));
    assert.equal((await observe(server.url, READ)).body, "hello");
  });
}

for (
  const length of [
    "",
    "+5",
    "5.0",
    "5;5",
    "0x5",
    "five",
    "99999999999999999999999",
    "5, ",
    "9007199254740993, 9007199254740992",
  ]
) {
  Deno.test(`a Content-Length of ${JSON.stringify(length)} breaks the protocol, body or not`, async () => {
    await using server = await target(saysAndWaits(`${OK}Content-Length: ${length}\r\n\r\nhello`));
    for (const read_body of [true, false]) assertFailed(await observe(server.url, { read_body }), "protocol");
  });
}

Deno.test("a body without a length ends with its connection", async () => {
  await using server = await target(says(`${OK}Content-Type: text/plain\r\n\r\nuntil the end`));
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body, "until the end");
});

for (const upgrade of ["", "Connection: Upgrade\r\nUpgrade: h2c\r\n"]) {
  Deno.test(`a switch of protocols that nobody asked for is an answer, ${upgrade ? "with" : "without"} its headers`, async () => {
    await using server = await target(saysAndWaits(`HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\n`));
    assertAnswered(await observe(server.url, READ), 101);
  });
}

Deno.test("interim answers and then nothing is no answer", async () => {
  await using server = await target(says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"));
  assertFailed(await observe(server.url), "connect.reset", /without an answer/);
});

Deno.test("interim answers one after the other do not hold off the deadline", async () => {
  await using server = await target(drips("", "HTTP/1.1 102 Processing\r\n\r\n", 50));
  assertFailed(await observe(server.url, {}, { timeoutMs: 400 }), "timeout.headers");
});

Deno.test("a status line needs no reason, and may have one in Latin-1", async () => {
  for (const line of ["HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 Tr\xe8s bien"]) {
    await using server = await target(says(`${line}\r\nContent-Length: 2\r\n\r\nok`));
    assertAnswered(await observe(server.url), 200);
  }
});
