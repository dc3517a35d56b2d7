import assert from "node:assert/strict";
import {
  FETCH_TRANSPORT,
  makesFullHandshakes,
  NODE_TRANSPORT,
  transportChoice,
} from "../../../src/jobs/http/transport.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import { authority, selfSigned } from "../../support/certificates.ts";
import { assertAnswered, assertFailed, observe, probeOnce } from "../../support/probing.ts";
import { answer, drips, says, saysInTurn, target } from "../../support/targets.ts";

const OVER_FETCH = { transport: FETCH_TRANSPORT };

/** A self test with fixed outcomes, that counts how often it is run. */
function selfTest(
  byNode: boolean[],
  byFetch: boolean,
): { runs: number; byNode(): Promise<boolean>; byFetch(): Promise<boolean> } {
  return {
    runs: 0,
    byNode() {
      return Promise.resolve(byNode[this.runs++] ?? false);
    },
    byFetch: () => Promise.resolve(byFetch),
  };
}

Deno.test("node carries probes wherever it can, and is not tried out off Deno Deploy", async () => {
  const untried = selfTest([false], true);
  assert.equal(await transportChoice(false, untried)(), NODE_TRANSPORT);
  assert.equal(untried.runs, 0);
  assert.equal(await transportChoice(true, selfTest([true], true))(), NODE_TRANSPORT);
});

Deno.test("fetch carries probes where only fetch reaches port 443, which is tried once", async () => {
  const closed = selfTest([false], true);
  const choose = transportChoice(true, closed);
  assert.deepEqual(await Promise.all([choose(), choose()]), [FETCH_TRANSPORT, FETCH_TRANSPORT]);
  assert.equal(await choose(), FETCH_TRANSPORT);
  assert.equal(closed.runs, 1);
});

Deno.test("node is not chosen where its handshakes are not full ones", () => {
  for (const version of ["2.8.3", "2.9.0", "2.9.5"]) assert.equal(makesFullHandshakes(version), false);
  for (const version of ["2.9.6", "2.9.7-rc.1", "2.10.0", "3.0.0"]) assert.equal(makesFullHandshakes(version), true);
});

Deno.test("nothing is concluded while the network is down", async () => {
  const flaky = selfTest([false, true], false);
  const choose = transportChoice(true, flaky);
  assert.equal(await choose(), NODE_TRANSPORT);
  assert.equal(await choose(), NODE_TRANSPORT);
  assert.equal(await choose(), NODE_TRANSPORT);
  assert.equal(flaky.runs, 2);
});

Deno.test("over fetch, status, headers, body and times are reported, and the transport is marked", async () => {
  await using server = await target(says(answer("201 Created", ["X-A: 1", "X-A: 2"], "hello")));
  const observation = await observe(server.url, { read_body: true, want_headers: ["x-a"] }, OVER_FETCH);
  assertAnswered(observation, 201);
  assert.equal(observation.transport, "fetch");
  assert.equal(observation.body, "hello");
  assert.deepEqual(observation.headers, { "x-a": "1, 2" });
  assert.ok((observation.timings.first_byte ?? 0) > 0);
  assert.equal(observation.address, undefined);
});

Deno.test("over fetch, the request is the same: Host, agent, credentials, method and body", async () => {
  await using server = await target(says(answer("200 OK")));
  const observation = await observe(
    `http://user:p%40ss@127.0.0.1:${server.port}/x?y=1`,
    { method: "patch", headers: { Host: "virtual.example" }, body: "payload" },
    OVER_FETCH,
  );
  assertAnswered(observation, 200);
  const request = server.requests[0] ?? "";
  assert.match(request, /^PATCH \/x\?y=1 HTTP\/1\.1\r\n/);
  assert.match(request, /\r\nhost: virtual\.example\r\n/i);
  assert.match(request, /\r\nuser-agent: uptuple\//i);
  assert.match(request, new RegExp(`\r\nauthorization: Basic ${btoa("user:p@ss")}\r\n`, "i"));
  assert.match(request, /\r\n\r\npayload$/);
});

Deno.test("over fetch, redirects are followed by the same rules", async () => {
  await using server = await target(
    saysInTurn(
      "HTTP/1.1 302 Found\r\nLocation: /next\r\nSet-Cookie: sid=1\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ),
  );
  const observation = await observe(server.url, { follow_redirects: 2 }, OVER_FETCH);
  assertAnswered(observation, 200);
  assert.deepEqual(observation.redirects, [{ status: 302, location: `${server.url}next` }]);
  assert.match(server.requests[1] ?? "", /\r\ncookie: sid=1\r\n/i);
});

Deno.test("over fetch, an endless body is cut at the limit", async () => {
  await using server = await target(drips("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(65536)));
  const observation = await observe(server.url, { read_body: true }, OVER_FETCH);
  assertAnswered(observation, 200);
  assert.equal(observation.body?.length, 65536);
  assert.equal(observation.body_capped, true);
  await server.closed;
});

Deno.test("over fetch, errors have the same codes", async () => {
  await using refused = await target(says(""));
  const port = refused.port;
  await refused[Symbol.asyncDispose]();
  assertFailed(await observe(`http://127.0.0.1:${port}/`, {}, OVER_FETCH), "connect.refused");
  assertFailed(await observe("http://nowhere.invalid/", {}, OVER_FETCH), "dns");
  assertFailed(await observe("http://169.254.169.254/", {}, OVER_FETCH), "policy.denied");

  for (
    const [said, code] of [
      ["HTTP/1.1 200 OK\r\nX-Odd : v\r\n\r\n", "protocol.header"],
      ["SSH-2.0-OpenSSH\r\n", "protocol"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "body.truncated"],
      ["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\nnot gzip in any sense", "body.decode"],
    ] as const
  ) {
    await using server = await target(says(said));
    assertFailed(await observe(server.url, { read_body: true }, OVER_FETCH), code);
  }
});

Deno.test("over fetch, certificates are told apart", async () => {
  const root = await authority();
  for (
    const [certificate, code] of [
      [await root.issue({ fromDays: -5, toDays: -1 }), "tls.expired"],
      [await root.issue({ fromDays: 1, toDays: 5 }), "tls.not_yet_valid"],
      [await root.issue({ names: ["other.example"] }), "tls.name_mismatch"],
      [await (await authority("CN=Other")).issue(), "tls.untrusted"],
      [await selfSigned(), "tls.untrusted"],
    ] as const
  ) {
    await using server = await target(says(answer("200 OK")), { certificate });
    assertFailed(await observe(`https://localhost:${server.port}/`, { tls: { ca: root.pem } }, OVER_FETCH), code);
  }
  await using server = await target(says(answer("200 OK")), { certificate: await root.issue() });
  assertAnswered(await observe(`https://localhost:${server.port}/`, { tls: { ca: root.pem } }, OVER_FETCH), 200);
});

Deno.test("over fetch, the deadline and the stop hold in every phase", async () => {
  const config = { read_body: true };
  await using silent = await target(() => {});
  assertFailed(await observe(silent.url, config, { ...OVER_FETCH, timeoutMs: 150 }), "timeout.headers");
  await using dripping = await target(drips("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "a", 20));
  assertFailed(await observe(dripping.url, config, { ...OVER_FETCH, timeoutMs: 150 }), "timeout.body");
  assert.deepEqual(await probeOnce(silent.url, config, { ...OVER_FETCH, signal: AbortSignal.timeout(50) }), {
    aborted: true,
  });
});

Deno.test("over fetch, a name with one denied address is denied", async () => {
  const observation = await observe("http://mixed.example/", {}, {
    ...OVER_FETCH,
    policy: networkPolicy({ deny: ["10.0.0.0/8"] }),
    resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }, { address: "10.0.0.1", family: 4 }]),
  });
  assertFailed(observation, "policy.denied");
});
