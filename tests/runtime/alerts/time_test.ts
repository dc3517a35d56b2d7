import assert from "node:assert/strict";
import { PostStoppedError } from "../../../src/alerts/post_notice.ts";
import { assertAnswered, assertFailed, post } from "../../support/posting.ts";
import { receiver, staysSilent } from "../../support/receivers.ts";
import { answer, drips, later, saysAndWaits, silentListener, target } from "../../support/targets.ts";

/** Asserts that a post ended when it should have, and not by another of its limits. */
function assertTook(ms: number, limitMs: number): void {
  assert.ok(ms >= limitMs - 10 && ms < limitMs + 3000, `${ms} ms, and the limit was ${limitMs} ms`);
}

Deno.test("a receiver that takes the notice and says nothing holds its slot for the timeout, and its connection is closed", async () => {
  await using server = await receiver(staysSilent());
  const reported = await post(server.url, { notice: { timeoutMs: 300 } });
  assertFailed(reported, "timeout.headers", /within 300 ms/);
  assertTook(reported.latency_ms, 300);
  assert.equal(server.posts.length, 1);
  await server.closed;
});

Deno.test("a receiver that drips its headers does not get longer than the timeout", async () => {
  await using server = await receiver(drips("HTTP/1.1 200 OK\r\n", "X-Drip: 1\r\n", 20));
  const reported = await post(server.url, { notice: { timeoutMs: 300 } });
  assertFailed(reported, "timeout.headers");
  assertTook(reported.latency_ms, 300);
});

Deno.test("a receiver that drips its answer does not get longer than the timeout", async () => {
  await using server = await receiver(drips("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", ".", 20));
  const reported = await post(server.url, { notice: { timeoutMs: 300 } });
  assertAnswered(reported, 200);
  assert.match(reported.excerpt ?? "", /^\.+$/);
  assertTook(reported.latency_ms, 300);
});

Deno.test("a receiver that nobody can connect to holds its slot for the connect timeout", async () => {
  using server = await silentListener();
  const notice = { connectTimeoutMs: 300, timeoutMs: 20_000 };
  const reported = await post(`http://127.0.0.1:${server.port}/`, { notice });
  assertFailed(reported, "connect.timeout", /within 300 ms/);
  assertTook(reported.latency_ms, 300);
});

Deno.test("the TLS handshake is part of connecting", async () => {
  await using server = await target(() => {});
  const notice = { connectTimeoutMs: 300, timeoutMs: 20_000 };
  const reported = await post(server.url.replace("http:", "https:"), { notice });
  assertFailed(reported, "timeout.tls", /within 300 ms/);
  assertTook(reported.latency_ms, 300);
});

Deno.test("the resolution of the name is part of connecting", async () => {
  const notice = { connectTimeoutMs: 300, timeoutMs: 20_000 };
  const reported = await post("http://slow.example/", { notice, resolve: () => new Promise(() => {}) });
  assertFailed(reported, "timeout.dns", /within 300 ms/);
  assertTook(reported.latency_ms, 300);
});

Deno.test("a receiver that is connected may take longer than the connect timeout to answer", async () => {
  await using server = await receiver((socket) => later(socket, 400, () => socket.end(answer("200 OK"))));
  const reported = await post(server.url, { notice: { connectTimeoutMs: 150, timeoutMs: 20_000 } });
  assertAnswered(reported, 200);
  assert.ok(reported.latency_ms >= 390, `${reported.latency_ms} ms`);
});

Deno.test("a runtime that stops before the notice is sent says that it may be given back", async () => {
  await using server = await receiver(staysSilent());
  await assert.rejects(
    post(server.url, { signal: AbortSignal.abort() }),
    (error) => error instanceof PostStoppedError && !error.sent,
  );

  const stop = new AbortController();
  const resolve = () => {
    queueMicrotask(() => stop.abort());
    return new Promise<never>(() => {});
  };
  await assert.rejects(
    post("http://slow.example/", { signal: stop.signal, resolve }),
    (error) => error instanceof PostStoppedError && !error.sent,
  );
  assert.deepEqual(server.requests, []);
});

Deno.test("a runtime that stops while it waits for the answer says that the notice may have arrived", async () => {
  const stop = new AbortController();
  await using server = await receiver(() => stop.abort());
  await assert.rejects(
    post(server.url, { signal: stop.signal }),
    (error) => error instanceof PostStoppedError && error.sent,
  );
  await server.closed;
});

Deno.test("a runtime that stops when it has the status has its answer", async () => {
  const stop = new AbortController();
  await using server = await receiver((socket) => {
    saysAndWaits("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", "stor")(socket, "", 0);
    later(socket, 200, () => stop.abort());
  });
  assertAnswered(await post(server.url, { signal: stop.signal, notice: { timeoutMs: 20_000 } }), 200);
});
