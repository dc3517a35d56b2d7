import assert from "node:assert/strict";
import { assertAnswered, assertFailed, observe, probeOnce } from "../../support/probing.ts";
import { answer, drips, later, says, silentListener, target } from "../../support/targets.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const SOON = { timeoutMs: 200 };

/** Asserts that a probe used its time and not much more. */
function assertTookItsTime(total: number): void {
  assert.ok(total >= 199 && total < 1200, `took ${total} ms`);
}

Deno.test("a resolver that does not answer is timeout.dns", async () => {
  const observation = await observe("http://slow.example/", {}, { ...SOON, resolve: () => new Promise(() => {}) });
  assertFailed(observation, "timeout.dns", /within 200 ms/);
  assert.equal(observation.timings.dns, undefined);
  assertTookItsTime(observation.timings.total);
});

Deno.test("a listener that does not answer is connect.timeout", async () => {
  using silent = await silentListener();
  const observation = await observe(`http://127.0.0.1:${silent.port}/`, {}, SOON);
  assertFailed(observation, "connect.timeout");
  assert.equal(observation.address, undefined);
  assertTookItsTime(observation.timings.total);
});

Deno.test("a handshake that does not go on is timeout.tls", async () => {
  await using server = await target(() => {});
  const observation = await observe(`https://127.0.0.1:${server.port}/`, {}, SOON);
  assertFailed(observation, "timeout.tls");
  assert.equal(observation.address, "127.0.0.1");
  assertTookItsTime(observation.timings.total);
});

Deno.test("a server that takes the request and says nothing is timeout.headers", async () => {
  await using server = await target(() => {});
  const observation = await observe(server.url, {}, SOON);
  assertFailed(observation, "timeout.headers");
  assert.equal(observation.timings.first_byte, undefined);
  assertTookItsTime(observation.timings.total);
  await server.closed;
});

Deno.test("headers that drip are timeout.headers, however often a byte comes", async () => {
  await using server = await target(drips(`${OK}X-Slow: `, "a", 20));
  const observation = await observe(server.url, {}, SOON);
  assertFailed(observation, "timeout.headers");
  assert.equal(observation.status, undefined);
  assertTookItsTime(observation.timings.total);
});

Deno.test("a body that drips is timeout.body, with the status and what came", async () => {
  await using server = await target(drips(`${OK}Content-Length: 100000\r\n\r\n`, "a", 20));
  const observation = await observe(server.url, { read_body: true }, SOON);
  assertFailed(observation, "timeout.body");
  assert.equal(observation.status, 200);
  assert.match(observation.body ?? "", /^a+$/);
  assertTookItsTime(observation.timings.total);
  await server.closed;
});

Deno.test("a body that drips is no matter when it is not asked for", async () => {
  await using server = await target(drips(`${OK}Content-Length: 100000\r\n\r\n`, "a", 20));
  assertAnswered(await observe(server.url, {}, SOON), 200);
});

Deno.test("redirects share the one deadline", async () => {
  await using server = await target((socket, _, index) => {
    later(socket, 80, () => socket.end(answer("302 Found", [`Location: /${index}`])));
  });
  const observation = await observe(server.url, { follow_redirects: 5 }, SOON);
  assert.match(observation.error?.code ?? "", /^(timeout\.headers|connect\.timeout)$/);
  assert.ok(server.requests.length <= 3);
  assertTookItsTime(observation.timings.total);
});

Deno.test("a probe that the runtime stops is aborted, in every phase, and lets go of its connection", async () => {
  const dripping = drips(`${OK}Content-Length: 1000\r\n\r\n`, "a", 10);
  const stop = new AbortController();
  await using server = await target((socket, request, index) => {
    dripping(socket, request, index);
    later(socket, 30, () => stop.abort());
  });
  const outcome = await probeOnce(server.url, { read_body: true }, { signal: stop.signal });
  assert.deepEqual(outcome, { aborted: true });
  await server.closed;
});

Deno.test("a probe that starts after the stop is aborted and connects to nothing", async () => {
  await using server = await target(says(answer("200 OK")));
  const outcome = await probeOnce(server.url, {}, { signal: AbortSignal.abort() });
  assert.deepEqual(outcome, { aborted: true });
  assert.equal(server.requests.length, 0);
});

Deno.test("a timer that fires more than a second late tells of a stalled process, and not of the target", async () => {
  await using server = await target(() => standStill(1300));
  const outcome = await probeOnce(server.url, {}, { timeoutMs: 100 });
  assert.match("stalled" in outcome ? outcome.stalled : "", /stood still/);
});

Deno.test("an answer that was only read long after the deadline is none", async () => {
  await using server = await target(says(answer("200 OK")));
  const outcome = await probeOnce(server.url, {}, {
    timeoutMs: 100,
    policy: () => {
      standStill(1300);
      return null;
    },
  });
  assert.match("stalled" in outcome ? outcome.stalled : "", /stood still/);
});

/** Keeps the whole process busy, as a suspended machine or a starved CPU does. */
function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
