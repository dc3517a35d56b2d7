import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { BODY_LIMIT } from "../../../src/jobs/http/body.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, says, saysAndWaits, spells, target } from "../../support/targets.ts";

const READ = { read_body: true };
const encoded = (label: string, body: Uint8Array) => answer("200 OK", [`Content-Encoding: ${label}`], body);
const garbage = (whole: Uint8Array, more: string) => Buffer.concat([whole, Buffer.from(more)]);

/** With its last byte changed in its checksum. */
function damaged(whole: Uint8Array, fromEnd: number): Uint8Array {
  const bytes = Buffer.from(whole);
  bytes[bytes.length - fromEnd] = (bytes[bytes.length - fromEnd] ?? 0) ^ 0xff;
  return bytes;
}

/** A gzip member whose header has a name and a comment. */
function namedGzip(text: string): Uint8Array {
  const plain = gzipSync(text);
  const header = Buffer.from(plain.subarray(0, 10));
  header[3] = 0x18;
  return Buffer.concat([header, Buffer.from("file.txt\0a comment\0"), plain.subarray(10)]);
}

for (
  const [what, label, body] of [
    ["in capitals", "GZip", gzipSync("hello keyword")],
    ["under its old name", "x-gzip", gzipSync("hello keyword")],
    ["with blanks around", "  gzip  ", gzipSync("hello keyword")],
    ["beside a label that means nothing", "gzip, none", gzipSync("hello keyword")],
    ["in two members", "gzip", Buffer.concat([gzipSync("hello "), gzipSync("keyword")])],
    ["with a name and a comment in its header", "gzip", namedGzip("hello keyword")],
    ["before zeros", "gzip", garbage(gzipSync("hello keyword"), "\0".repeat(50))],
    ["before bytes that do not belong to it", "gzip", garbage(gzipSync("hello keyword"), "<!-- cached -->")],
    ["with a name, before other bytes", "gzip", garbage(namedGzip("hello keyword"), "<!-- cached -->")],
    ["as zlib, before other bytes", "deflate", garbage(deflateSync("hello keyword"), "<!-- cached -->")],
    ["as bare deflate", "deflate", deflateRawSync("hello keyword")],
    ["as brotli, before other bytes", "br", garbage(brotliCompressSync("hello keyword"), "<!-- cached -->")],
    ["three times", "gzip, br, deflate", deflateSync(brotliCompressSync(gzipSync("hello keyword")))],
  ] as const
) {
  Deno.test(`a body that is compressed ${what} is undone, also when it comes byte by byte`, async () => {
    const said = encoded(label, body);
    for (const behaviour of [saysAndWaits(said), spells(said)]) {
      await using server = await target(behaviour);
      const observation = await observe(server.url, READ);
      assertAnswered(observation, 200);
      assert.equal(observation.body, "hello keyword");
    }
  });
}

Deno.test("two Content-Encoding headers are two encodings", async () => {
  const headers = ["Content-Encoding: gzip", "Content-Encoding: br"];
  await using server = await target(says(answer("200 OK", headers, brotliCompressSync(gzipSync("hello")))));
  assert.equal((await observe(server.url, READ)).body, "hello");
});

for (
  const [what, label, body] of [
    ["is labelled twice and compressed once", "gzip, gzip", gzipSync("hello")],
    ["has a wrong checksum as gzip", "gzip", damaged(gzipSync("hello"), 6)],
    ["has a wrong checksum before other bytes", "gzip", garbage(damaged(gzipSync("hello"), 6), "<!-- cached -->")],
    ["has a wrong checksum as zlib", "deflate", damaged(deflateSync("hello"), 1)],
    ["is gzip and labelled br", "br", gzipSync("hello")],
    ["is brotli and labelled gzip", "gzip", brotliCompressSync("hello")],
    ["is labelled compress", "compress", Buffer.from("\x1f\x9dhello", "latin1")],
    ["is labelled zstd, which was not asked for", "zstd", Buffer.from("28b52ffd", "hex")],
  ] as const
) {
  Deno.test(`a body that ${what} is body.decode for who reads it, and nothing for who does not`, async () => {
    await using server = await target(says(encoded(label, body)));
    const observation = await observe(server.url, READ);
    assertFailed(observation, "body.decode");
    assert.equal(observation.status, 200);
    assertAnswered(await observe(server.url), 200);
  });
}

for (const label of ["gzip", "deflate", "br", "gzip, br"]) {
  Deno.test(`no bytes at all are an empty body under the label ${label}`, async () => {
    const chunked = `HTTP/1.1 200 OK\r\nContent-Encoding: ${label}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    for (const said of [encoded(label, new Uint8Array()), chunked]) {
      await using server = await target(saysAndWaits(said));
      const observation = await observe(server.url, READ);
      assertAnswered(observation, 200);
      assert.equal(observation.body, "");
    }
  });
}

Deno.test("a compressed body that breaks off after enough of it is capped and not broken", async () => {
  const whole = gzipSync(crypto.getRandomValues(new Uint8Array(60_000)).toHex());
  await using server = await target(
    says(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${whole.length}\r\n\r\n`, whole.subarray(0, -8)),
  );
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body?.length, BODY_LIMIT);
  assert.equal(observation.body_capped, true);
});

Deno.test("a compressed body that does not go on is timeout.body, with what came of it", async () => {
  const text = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join("\n");
  const start = gzipSync(text).subarray(0, 5000);
  await using server = await target(saysAndWaits("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", start));
  const observation = await observe(server.url, READ, { timeoutMs: 500 });
  assertFailed(observation, "timeout.body");
  assert.ok(observation.body?.startsWith("line 0\nline 1\n"));
});

Deno.test("a bomb within a bomb within a bomb is unpacked to the limit only", async () => {
  const bomb = gzipSync(gzipSync(gzipSync(new Uint8Array(64 << 20))));
  assert.ok(bomb.length < 1000);
  await using server = await target(says(encoded("gzip, gzip, gzip", bomb)));
  const before = Deno.memoryUsage().rss;
  const observation = await observe(server.url, READ);
  assertAnswered(observation, 200);
  assert.equal(observation.body?.length, BODY_LIMIT);
  assert.ok(Deno.memoryUsage().rss - before < 32 << 20);
});

Deno.test("a bomb that unpacks to nothing in the end is given up between its encodings", async () => {
  const nothing = gzipSync("");
  const bomb = gzipSync(Buffer.alloc(nothing.length * 500_000, nothing));
  await using server = await target(says(encoded("gzip, gzip", bomb)));
  assertFailed(await observe(server.url, READ), "body.decode", /between two encodings/);
});
