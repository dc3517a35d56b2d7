import assert from "node:assert/strict";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { BODY_LIMIT } from "../../../src/jobs/http/body.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, drips, later, says, saysAndWaits, target } from "../../support/targets.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const READ = { read_body: true };

Deno.test("a body is read to its length, on a connection that stays open", async () => {
  await using server = await target(saysAndWaits(answer("200 OK", [], "hello")));
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body, "hello");
  assert.equal(observation.body_capped, false);
});

Deno.test("a chunked body is put together, with extensions and trailers passed over", async () => {
  await using server = await target(
    saysAndWaits(`${OK}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n`),
  );
  assert.equal((await observe(server.url, READ)).body, "hello world");
});

Deno.test("bytes after the end of a body are not part of it", async () => {
  await using server = await target(saysAndWaits(answer("200 OK", [], "hello"), "more, and no HTTP"));
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body, "hello");
});

for (
  const [encoding, encoded] of [
    ["gzip", gzipSync("hello keyword")],
    ["x-gzip", gzipSync("hello keyword")],
    ["GZIP", gzipSync("hello keyword")],
    ["deflate", deflateSync("hello keyword")],
    ["deflate", deflateRawSync("hello keyword")],
    ["br", brotliCompressSync("hello keyword")],
    ["gzip, br", brotliCompressSync(gzipSync("hello keyword"))],
    ["identity", "hello keyword"],
    ["utf-8", "hello keyword"],
  ] as const
) {
  Deno.test(`a body in ${encoding} that begins with ${encoded.slice(0, 2)} is decoded`, async () => {
    await using server = await target(says(answer("200 OK", [`Content-Encoding: ${encoding}`], encoded)));
    const observation = await observe(server.url, READ);
    assertAnswered(observation, 200);
    assert.equal(observation.body, "hello keyword");
  });
}

Deno.test("a body that is gzipped for the transfer is decoded", async () => {
  const gzipped = gzipSync("hello");
  await using server = await target(
    says(`${OK}Transfer-Encoding: gzip, chunked\r\n\r\n${gzipped.length.toString(16)}\r\n`, gzipped, "\r\n0\r\n\r\n"),
  );
  assert.equal((await observe(server.url, READ)).body, "hello");
});

for (const encoding of ["gzip", "deflate", "br"]) {
  Deno.test(`a plain body that is labelled ${encoding} cannot be decoded`, async () => {
    await using server = await target(says(answer("200 OK", [`Content-Encoding: ${encoding}`], "\x07hello keyword")));
    const observation = await observe(server.url, READ);
    assertFailed(observation, "body.decode");
    assert.equal(observation.status, 200);
  });
}

Deno.test("a body in an encoding that was not asked for cannot be decoded", async () => {
  await using server = await target(says(answer("200 OK", ["Content-Encoding: zstd"], "\x28\xb5\x2f\xfd")));
  assertFailed(await observe(server.url, READ), "body.decode", /zstd/);
});

for (const head of ["200 OK", "204 No Content", "304 Not Modified"]) {
  Deno.test(`an empty body of a ${head} is empty in an encoding that was not asked for`, async () => {
    await using server = await target(says(`HTTP/1.1 ${head}\r\nContent-Encoding: zstd\r\nContent-Length: 0\r\n\r\n`));
    const observation = await observe(server.url, READ);
    assertAnswered(observation, Number(head.slice(0, 3)));
    assert.equal(observation.body, "");
  });
}

Deno.test("a body that is encoded over and over is refused", async () => {
  await using server = await target(says(answer("200 OK", ["Content-Encoding: gzip, gzip, gzip, gzip"], "x")));
  assertFailed(await observe(server.url, READ), "body.decode", /4 times/);
});

const text = Array.from({ length: 500 }, (_, index) => `line ${index}`).join("\n");
for (
  const [encoding, whole] of [["gzip", gzipSync(text)], ["deflate", deflateSync(text)], [
    "br",
    brotliCompressSync(text),
  ]] as const
) {
  Deno.test(`a ${encoding} stream without its end is truncated, though its length is right`, async () => {
    await using server = await target(
      says(answer("200 OK", [`Content-Encoding: ${encoding}`], whole.subarray(0, whole.length - 8))),
    );
    const observation = await observe(server.url, READ);
    assertFailed(observation, "body.truncated");
    assert.equal(observation.status, 200);
  });
}

Deno.test("a body shorter than its Content-Length is truncated, and what came is reported", async () => {
  await using server = await target(says(`${OK}Content-Length: 100\r\n\r\nshort`));
  const observation = await observe(server.url, READ);
  assertFailed(observation, "body.truncated", /middle of the body/);
  assert.equal(observation.status, 200);
  assert.equal(observation.body, "short");
});

Deno.test("a chunked body without its last chunk is truncated", async () => {
  await using server = await target(says(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`));
  const observation = await observe(server.url, READ);
  assertFailed(observation, "body.truncated");
  assert.equal(observation.body, "hello");
});

Deno.test("a connection that is reset within the body truncates it", async () => {
  await using server = await target((socket) => {
    socket.write(`${OK}Content-Length: 100\r\n\r\nshort`);
    later(socket, 30, () => socket.resetAndDestroy());
  });
  assertFailed(await observe(server.url, READ), "body.truncated");
});

for (const chunks of ["zz\r\nhello\r\n", "5\r\nhelloXX", "-5\r\nhello\r\n"]) {
  Deno.test(`chunks that cannot be told apart break the protocol: ${JSON.stringify(chunks)}`, async () => {
    await using server = await target(saysAndWaits(`${OK}Transfer-Encoding: chunked\r\n\r\n${chunks}`));
    assertFailed(await observe(server.url, READ), "protocol", /body is not valid HTTP/);
  });
}

Deno.test("a body of exactly the limit is not capped", async () => {
  await using server = await target(says(answer("200 OK", [], "a".repeat(BODY_LIMIT))));
  const observation = await observe(server.url, READ);
  assert.equal(observation.body?.length, BODY_LIMIT);
  assert.equal(observation.body_capped, false);
});

Deno.test("a longer body is cut at the limit and the rest is not waited for", async () => {
  await using server = await target(saysAndWaits(`${OK}Content-Length: 1000000\r\n\r\n`, "a".repeat(BODY_LIMIT + 1)));
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body?.length, BODY_LIMIT);
  assert.equal(observation.body_capped, true);
  await server.closed;
});

Deno.test("an endless body is cut at the limit", async () => {
  await using server = await target(drips(`${OK}\r\nkeyword`, "x".repeat(65536)));
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.ok(observation.body?.startsWith("keyword"));
  assert.equal(observation.body_capped, true);
});

const quickBrotli = (plain: Uint8Array) =>
  brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
for (const [encoding, compress] of [["gzip", gzipSync], ["br", quickBrotli]] as const) {
  Deno.test(`64 MiB packed in ${encoding} are unpacked to the limit only`, async () => {
    const bomb = compress(new Uint8Array(64 << 20));
    await using server = await target(says(answer("200 OK", [`Content-Encoding: ${encoding}`], bomb)));
    const before = Deno.memoryUsage().rss;

    const observation = await observe(server.url, READ);

    assertAnswered(observation, 200);
    assert.equal(observation.body?.length, BODY_LIMIT);
    assert.equal(observation.body_capped, true);
    assert.ok(Deno.memoryUsage().rss - before < 32 << 20);
  });
}

Deno.test("a character that the limit cuts through is left out", async () => {
  await using server = await target(says(answer("200 OK", [], new TextEncoder().encode(`a${"é".repeat(BODY_LIMIT)}`))));
  const observation = await observe(server.url, READ);
  assert.equal(observation.body, `a${"é".repeat(BODY_LIMIT / 2 - 1)}`);
});

Deno.test("a body is read in the charset of its Content-Type, and in UTF-8 without one", async () => {
  for (
    const [type, body] of [["text/plain; charset=iso-8859-1", "caf\xe9"], ["text/plain", "caf\xc3\xa9"], [
      'text/html; charset="UTF-8"',
      "caf\xc3\xa9",
    ], ["text/plain; charset=no-such-thing", "caf\xc3\xa9"]] as const
  ) {
    await using server = await target(says(answer("200 OK", [`Content-Type: ${type}`], body)));
    assert.equal((await observe(server.url, READ)).body, "café");
  }
});

Deno.test("bytes that are no UTF-8 are replaced, and NUL stays for the database to make safe", async () => {
  await using server = await target(says(answer("200 OK", [], "a\xff\0b")));
  assert.equal((await observe(server.url, READ)).body, "a\ufffd\0b");
});
