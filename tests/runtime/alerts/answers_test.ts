import assert from "node:assert/strict";
import { assertAnswered, assertFailed, BODY, post } from "../../support/posting.ts";
import { inTurn, receiver, resets, resettingListener } from "../../support/receivers.ts";
import { answer, drips, says, saysAndWaits } from "../../support/targets.ts";

Deno.test("a receiver that accepts is reported with its status, what it said, and the time it took", async () => {
  await using server = await receiver(says(answer("202 Accepted", [], `{"stored":true}`)));
  const startedAt = performance.now();
  const reported = await post(server.url);
  const elapsed = performance.now() - startedAt;
  assertAnswered(reported, 202);
  assert.equal(reported.excerpt, `{"stored":true}`);
  assert.equal(reported.retry_after, undefined);
  assert.ok(reported.latency_ms > 0 && reported.latency_ms <= elapsed, `${reported.latency_ms} of ${elapsed} ms`);
});

Deno.test("an answer without a body has an empty excerpt", async () => {
  await using server = await receiver(says("HTTP/1.1 204 No Content\r\n\r\n"));
  const reported = await post(server.url);
  assertAnswered(reported, 204);
  assert.equal(reported.excerpt, "");
});

Deno.test("a receiver that fails and then works is reported as it is each time", async () => {
  await using server = await receiver(inTurn(
    says(answer("500 Internal Server Error", [], "no disk")),
    says(answer("503 Service Unavailable")),
    says(answer("200 OK", [], "ok")),
  ));
  const statuses = [];
  for (let attempt = 1; attempt <= 3; attempt++) {
    statuses.push((await post(server.url, { notice: { attempt } })).status);
  }
  assert.deepEqual(statuses, [500, 503, 200]);
});

Deno.test("Retry-After is reported as it was received, in seconds or as a date", async () => {
  for (const value of ["120", "Fri, 31 Dec 2100 23:59:59 GMT", "soon"]) {
    await using server = await receiver(says(answer("429 Too Many Requests", [`Retry-After: ${value}`], "slow down")));
    const reported = await post(server.url);
    assertAnswered(reported, 429);
    assert.equal(reported.retry_after, value);
    assert.equal(reported.excerpt, "slow down");
  }
});

Deno.test("a redirect is an answer, and is not followed", async () => {
  await using elsewhere = await receiver(says(answer("200 OK")));
  for (
    const status of ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
  ) {
    await using server = await receiver(says(answer(status, [`Location: ${elsewhere.url}`])));
    assertAnswered(await post(server.url), Number(status.slice(0, 3)));
  }
  assert.deepEqual(elsewhere.requests, []);
});

Deno.test("interim answers are not the answer", async () => {
  await using server = await receiver(
    says("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", answer("200 OK", [], "stored")),
  );
  const reported = await post(server.url);
  assertAnswered(reported, 200);
  assert.equal(reported.excerpt, "stored");
});

Deno.test("of an answer without end, 512 bytes are read, and the connection is closed", async () => {
  await using server = await receiver(drips("HTTP/1.1 200 OK\r\n\r\n", "0123456789abcdef".repeat(64)));
  const reported = await post(server.url);
  assertAnswered(reported, 200);
  assert.equal(reported.excerpt, "0123456789abcdef".repeat(32));
  await server.closed;
});

Deno.test("nobody waits for more than the 512 bytes that are read", async () => {
  await using server = await receiver(
    saysAndWaits("HTTP/1.1 500 Oops\r\nContent-Length: 1000\r\n\r\n", "x".repeat(600)),
  );
  const reported = await post(server.url, { notice: { timeoutMs: 20_000 } });
  assertAnswered(reported, 500);
  assert.equal(reported.excerpt, "x".repeat(512));
  assert.ok(reported.latency_ms < 10_000, `${reported.latency_ms} ms`);
});

Deno.test("a character that the limit cuts through is left out of the excerpt", async () => {
  await using server = await receiver(says(answer("200 OK", [], new TextEncoder().encode(`a${"\u00e9".repeat(300)}`))));
  assert.equal((await post(server.url)).excerpt, `a${"\u00e9".repeat(255)}`);
});

Deno.test("an excerpt that is no UTF-8 is readable all the same", async () => {
  await using server = await receiver(says(answer("200 OK", [], new Uint8Array([97, 0xff, 98]))));
  assert.equal((await post(server.url)).excerpt, "a\ufffdb");
});

Deno.test("a receiver that gave its status and breaks off has answered", async () => {
  await using server = await receiver(says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", "stor"));
  const reported = await post(server.url);
  assertAnswered(reported, 200);
  assert.equal(reported.excerpt, "stor");
});

Deno.test("a receiver that gave its status and stalls has answered, when the time is over", async () => {
  for (const body of ["", "stor"]) {
    await using server = await receiver(saysAndWaits("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", body));
    const reported = await post(server.url, { notice: { timeoutMs: 300 } });
    assertAnswered(reported, 200);
    assert.equal(reported.excerpt, body);
    assert.ok(reported.latency_ms >= 290 && reported.latency_ms < 3000, `${reported.latency_ms} ms`);
    await server.closed;
  }
});

Deno.test("a body that is not encoded as it is labelled costs the excerpt and not the answer", async () => {
  await using server = await receiver(says(answer("200 OK", ["Content-Encoding: gzip"], "plain")));
  assertAnswered(await post(server.url), 200);
});

Deno.test("headers of a megabyte are no answer", async () => {
  await using server = await receiver(says(answer("200 OK", [`X-Big: ${"x".repeat(1024 * 1024)}`])));
  assertFailed(await post(server.url), "protocol.header_too_large");
});

Deno.test("what is not HTTP is no answer", async () => {
  await using server = await receiver(says("220 mail.example ESMTP\r\n"));
  assertFailed(await post(server.url), "protocol", /not HTTP/);
});

Deno.test("a receiver that takes the notice and resets the connection has not answered", async () => {
  await using server = await receiver(resets());
  assertFailed(await post(server.url), "connect.reset", /without an answer/);
  assert.deepEqual(server.posts.map(({ body }) => body), [BODY]);
});

Deno.test("a receiver that takes the notice and closes the connection has not answered", async () => {
  await using server = await receiver((socket) => socket.end());
  assertFailed(await post(server.url), "connect.reset", /without an answer/);
});

Deno.test("a receiver that resets the connection before it reads has not answered", async () => {
  await using server = await resettingListener();
  assertFailed(await post(server.url), "connect.reset");
});

Deno.test("a closed port refuses the notice", async () => {
  const server = await receiver(says(answer("200 OK")));
  await server[Symbol.asyncDispose]();
  const reported = await post(server.url);
  assertFailed(reported, "connect.refused");
  assert.ok(reported.latency_ms >= 0);
});

Deno.test("a notice does not go to the metadata service of a cloud, by whatever name", async () => {
  const resolve = () => Promise.resolve([{ address: "169.254.169.254", family: 4 as const }]);
  assertFailed(await post("http://169.254.169.254/latest/meta-data"), "policy.denied");
  assertFailed(await post("http://metadata.example/", { resolve }), "policy.denied", /169\.254\.0\.0\/16/);
});
