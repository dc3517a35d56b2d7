import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, later, says, saysAndWaits, target } from "../../support/targets.ts";

Deno.test("a plain answer is reported with its status, its address and the time of each phase", async () => {
  await using server = await target(says(answer("200 OK", [], "hello")));

  const observation = await observe(server.url);

  assertAnswered(observation, 200);
  assert.equal(observation.address, "127.0.0.1");
  assert.equal(observation.family, 4);
  assert.equal(observation.transport, "node");
  const { connect, first_byte, total } = observation.timings;
  assert.ok(connect !== undefined && connect > 0);
  assert.ok(first_byte !== undefined && first_byte > 0);
  assert.ok(connect + first_byte <= total);
  assert.equal(observation.timings.dns, undefined, "an address needs no resolver");
  assert.equal(observation.timings.tls, undefined);
});

Deno.test("the first byte is timed, and not the rest of the body", async () => {
  await using server = await target((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    later(socket, 150, () => socket.end("hello"));
  });
  const { timings } = await observe(server.url, { read_body: true });
  assert.ok(timings.total >= 149);
  assert.ok((timings.first_byte ?? 0) <= timings.total - 140, JSON.stringify(timings));
});

Deno.test("port 0 is not the default port", async () => {
  const observation = await observe("http://127.0.0.1:0/");
  assertFailed(observation, "connect.refused", /127\.0\.0\.1:0 /);
});

Deno.test("facts that were not asked for are not reported", async () => {
  await using server = await target(says(answer("200 OK", ["X-Version: 7"], "hello")));

  const observation = await observe(server.url);

  assert.deepEqual(Object.keys(observation).sort(), ["address", "family", "status", "timings", "transport"]);
});

for (const status of [200, 204, 304, 404, 418, 500, 503, 599, 999]) {
  Deno.test(`status ${status} is an answer and no error`, async () => {
    await using server = await target(says(`HTTP/1.1 ${status} Whatever\r\nContent-Length: 0\r\n\r\n`));
    assertAnswered(await observe(server.url), status);
  });
}

Deno.test("a 204 that is labelled gzip has an empty body", async () => {
  await using server = await target(says("HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n"));
  const observation = await observe(server.url, { read_body: true });
  assertAnswered(observation, 204);
  assert.equal(observation.body, "");
});

Deno.test("an empty 200 that is labelled gzip has an empty body", async () => {
  await using server = await target(says(answer("200 OK", ["Content-Encoding: gzip"])));
  const observation = await observe(server.url, { read_body: true });
  assertAnswered(observation, 200);
  assert.equal(observation.body, "");
});

Deno.test("a HEAD answer with a Content-Length is complete without a body, on a connection that stays open", async () => {
  await using server = await target(saysAndWaits("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"));
  const observation = await observe(server.url, { method: "HEAD", read_body: true });
  assertAnswered(observation, 200);
  assert.equal(observation.body, "");
});

Deno.test("a body that is not asked for is not waited for, and the connection is closed", async () => {
  await using server = await target(saysAndWaits("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegin"));
  assertAnswered(await observe(server.url), 200);
  await server.closed;
});

Deno.test("a body that is not asked for may be broken, cut or wrongly labelled", async () => {
  for (
    const broken of [
      answer("200 OK", ["Content-Encoding: gzip"], "hello keyword"),
      answer("200 OK", ["Content-Encoding: gzip"], gzipSync("hello").subarray(0, 12)),
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk",
    ]
  ) {
    await using server = await target(says(broken));
    assertAnswered(await observe(server.url), 200);
  }
});

Deno.test("interim answers are passed over", async () => {
  await using server = await target(says(
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n",
    answer("200 OK", ["X-Final: yes"], "body"),
  ));
  const observation = await observe(server.url, { read_body: true, want_headers: ["link", "x-final"] });
  assertAnswered(observation, 200);
  assert.equal(observation.body, "body");
  assert.deepEqual(observation.headers, { "x-final": "yes" });
});

Deno.test("a switch of protocols is the answer 101", async () => {
  await using server = await target(
    saysAndWaits("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
  );
  const observation = await observe(server.url, { headers: { Connection: "Upgrade", Upgrade: "websocket" } });
  assertAnswered(observation, 101);
});

Deno.test("an answer of HTTP/1.0 ends with its connection", async () => {
  await using server = await target(says("HTTP/1.0 200 OK\r\n\r\nuntil the end"));
  const observation = await observe(server.url, { read_body: true });
  assertAnswered(observation, 200);
  assert.equal(observation.body, "until the end");
});

Deno.test("the wanted headers are reported in lower case, repeated ones joined, missing ones left out", async () => {
  await using server = await target(says(answer("200 OK", ["X-A: 1", 'ETag: "e"', "x-a: 2", "X-Name: caf\xe9"])));
  const observation = await observe(server.url, { want_headers: ["X-A", "etag", "x-name", "x-missing"] });
  assert.deepEqual(observation.headers, { "x-a": "1, 2", "etag": '"e"', "x-name": "café" });
});

for (
  const [what, said] of [
    ["a greeting of SSH", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["HTML without headers", "<html><body>hi</body></html>"],
    ["frames of HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00"],
    ["an alert of TLS", "\x15\x03\x01\x00\x02\x02\x46"],
    ["an old streaming protocol", "ICY 200 OK\r\n\r\n"],
    ["a status line of HTTP/3", "HTTP/3.0 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 99 Odd\r\n\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["a status in words", "HTTP/1.1 OK\r\n\r\n"],
    ["lower case", "http/1.1 200 OK\r\n\r\n"],
  ] as const
) {
  Deno.test(`${what} is refused at once as not HTTP/1, on a connection that stays open`, async () => {
    await using server = await target(saysAndWaits(said));
    const observation = await observe(server.url);
    assertFailed(observation, "protocol");
    assert.equal(observation.status, undefined);
    assert.equal(observation.address, "127.0.0.1");
  });
}

Deno.test("an https port that is asked in plain text is recognised", async () => {
  await using server = await target(says("\x15\x03\x01\x00\x02\x02\x46"));
  assertFailed(await observe(server.url), "protocol", /speaks TLS/);
});

Deno.test("a connection that is closed without an answer was reset", async () => {
  await using server = await target((socket) => socket.end());
  assertFailed(await observe(server.url), "connect.reset", /without an answer/);
});

Deno.test("a connection that is reset instead of answered was reset", async () => {
  await using server = await target((socket) => socket.resetAndDestroy());
  assertFailed(await observe(server.url), "connect.reset");
});

Deno.test("a connection that is closed within the headers breaks the protocol", async () => {
  await using server = await target(says("HTTP/1.1 200 OK\r\nX-Half"));
  assertFailed(await observe(server.url), "protocol", /middle of the headers/);
});
