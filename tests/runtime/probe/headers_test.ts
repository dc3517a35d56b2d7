import assert from "node:assert/strict";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, drips, later, says, saysAndWaits, spells, target } from "../../support/targets.ts";

const OK = "HTTP/1.1 200 OK\r\n";

for (
  const [what, header, named] of [
    ["a control character in a value", "Set-Cookie: a=b\x01", /"Set-Cookie"/],
    ["a NUL in a value", "X-Nul: a\0b", /"X-Nul"/],
    ["a lone CR in a value", "X-Cr: a\rb", /"X-Cr"/],
    ["a space before the colon", "X-Odd : v", /"X-Odd "/],
    ["a space in the name", "X Y: v", /"X Y"/],
    ["a continued line", "X-Folded: a\r\n b", /"X-Folded"/],
    ["no colon", "X-Broken", /"X-Broken"/],
    ["no name", ": v", /""/],
    ["a name beyond ASCII", "X-Caf\xe9: v", /"X-Café"/],
  ] as const
) {
  Deno.test(`a header with ${what} is named and refused`, async () => {
    await using server = await target(saysAndWaits(`${OK}Server: x\r\n${header}\r\nContent-Length: 0\r\n\r\n`));
    assertFailed(await observe(server.url), "protocol.header", named);
  });
}

Deno.test("a header that ends without CR is named and refused", async () => {
  await using server = await target(saysAndWaits(`${OK}X-Bare: 1\nContent-Length: 0\r\n\r\n`));
  assertFailed(await observe(server.url), "protocol.header", /"X-Bare" does not end with CR LF/);
});

Deno.test("headers that all end without CR are refused before the connection ends", async () => {
  await using server = await target(saysAndWaits("HTTP/1.1 200 OK\nContent-Length: 0\n\n"));
  assertFailed(await observe(server.url), "protocol.header", /status line/);
});

Deno.test("a header that comes in pieces is named as a whole", async () => {
  await using server = await target((socket) => {
    socket.write(`${OK}X-Pi`);
    later(socket, 20, () => socket.write("eces: a\x02\r\n\r\n"));
  });
  assertFailed(await observe(server.url), "protocol.header", /"X-Pieces"/);
});

Deno.test("Latin-1 in a value is allowed", async () => {
  await using server = await target(says(answer("200 OK", ["X-Name: caf\xe9 \xff"])));
  const observation = await observe(server.url, { want_headers: ["x-name"] });
  assertAnswered(observation, 200);
  assert.equal(observation.headers?.["x-name"], "café ÿ");
});

Deno.test("an empty value and a tab are allowed", async () => {
  await using server = await target(says(answer("200 OK", ["X-Empty:", "X-Tab:\ta\tb\t"])));
  const observation = await observe(server.url, { want_headers: ["x-empty", "x-tab"] });
  assert.deepEqual(observation.headers, { "x-empty": "", "x-tab": "a\tb" });
});

Deno.test("headers full of spaces take no time to read", async () => {
  const blank = " \t".repeat(50_000);
  await using server = await target(says(`${OK}X-Blank: ${blank}x\r\nContent-Length: 0\r\n\r\n`));
  const observation = await observe(server.url);
  assertAnswered(observation, 200);
  assert.ok(observation.timings.total < 3000);
  await using other = await target(says(`${OK}Content-Length: 5${blank}x\r\n\r\n`));
  assertFailed(await observe(other.url, {}, { timeoutMs: 3000 }), "protocol");
});

Deno.test("a head that comes byte by byte is read", async () => {
  const said = answer("200 OK", ["X-A: 1", "X-B: 2"], "hello");
  await using server = await target(spells(said));
  const observation = await observe(server.url, { read_body: true, want_headers: ["x-a", "x-b"] });
  assertAnswered(observation, 200);
  assert.equal(observation.body, "hello");
  assert.deepEqual(observation.headers, { "x-a": "1", "x-b": "2" });
});

for (const count of [150, 1000]) {
  Deno.test(`${count} headers are allowed`, async () => {
    const headers = Array.from({ length: count }, (_, index) => `X-${index}: v`);
    await using server = await target(says(answer("200 OK", headers)));
    const observation = await observe(server.url, { want_headers: [`x-${count - 1}`] });
    assertAnswered(observation, 200);
    assert.deepEqual(observation.headers, { [`x-${count - 1}`]: "v" });
  });
}

Deno.test("a header of 64 KiB is allowed", async () => {
  await using server = await target(says(answer("200 OK", [`X-Long: ${"a".repeat(65536)}`, "X-Last: 1"])));
  const observation = await observe(server.url, { want_headers: ["x-last"] });
  assertAnswered(observation, 200);
  assert.deepEqual(observation.headers, { "x-last": "1" });
});

Deno.test("a header of 1 MiB is too large", async () => {
  await using server = await target(says(answer("200 OK", [`X-Long: ${"a".repeat(1 << 20)}`])));
  assertFailed(await observe(server.url), "protocol.header_too_large");
});

Deno.test("endless headers are too large", async () => {
  await using server = await target(drips(OK, "X-More: and more\r\n".repeat(100)));
  assertFailed(await observe(server.url), "protocol.header_too_large");
});

Deno.test("endless interim answers are too large", async () => {
  await using server = await target(drips("", "HTTP/1.1 102 Processing\r\n\r\n".repeat(100)));
  assertFailed(await observe(server.url), "protocol.header_too_large");
});

Deno.test("different Content-Lengths are refused", async () => {
  await using server = await target(says(`${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`));
  assertFailed(await observe(server.url), "protocol", /different Content-Lengths: "5, 6"/);
});

Deno.test("a list of different Content-Lengths in one header is refused", async () => {
  await using server = await target(says(`${OK}Content-Length: 5, 6\r\n\r\nhello!`));
  assertFailed(await observe(server.url), "protocol", /different Content-Lengths/);
});

for (const length of ["abc", "-1", "5x", "0x5", ""]) {
  Deno.test(`a Content-Length of ${JSON.stringify(length)} is refused`, async () => {
    await using server = await target(says(`${OK}Content-Length: ${length}\r\n\r\nhello`));
    assertFailed(await observe(server.url), "protocol", /Content-Length/);
  });
}

for (const repeated of ["Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5"]) {
  Deno.test(`equal Content-Lengths count once, with a warning: ${JSON.stringify(repeated)}`, async () => {
    await using server = await target(saysAndWaits(`${OK}${repeated}\r\n\r\nhello`));
    const observation = await observe(server.url, { read_body: true });
    assertAnswered(observation, 200);
    assert.equal(observation.body, "hello");
    assert.deepEqual(observation.warnings, ["content_length_repeated"]);
  });
}

for (
  const order of [["Content-Length: 3", "Transfer-Encoding: chunked"], [
    "Transfer-Encoding: chunked",
    "Content-Length: 3",
  ]]
) {
  Deno.test(`${order.join(" before ")}: the chunks count, with a warning`, async () => {
    await using server = await target(saysAndWaits(`${OK}${order.join("\r\n")}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`));
    const observation = await observe(server.url, { read_body: true });
    assertAnswered(observation, 200);
    assert.equal(observation.body, "hello");
    assert.deepEqual(observation.warnings, ["content_length_with_transfer_encoding"]);
  });
}
