import assert from "node:assert/strict";
import type { TcpConfig } from "../../../src/jobs/kinds/tcp_probe.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import type { Observation } from "../../../src/jobs/observation.ts";
import { authority, selfSigned } from "../../support/certificates.ts";
import { assertReached, checkOnce, type CheckOptions, observeCheck } from "../../support/kinds.ts";
import { assertFailed } from "../../support/probing.ts";
import { closedPort, rawServer } from "../../support/raw_server.ts";
import { until } from "../../support/wait.ts";

const root = await authority();

function observe(port: number, config: TcpConfig = {}, options: CheckOptions = {}): Promise<Observation> {
  return observeCheck({ kind: "tcp", target: `tcp://127.0.0.1:${port}`, config }, options);
}

Deno.test("a port that takes connections is reached, with its address and the time, and the connection is closed again", async () => {
  await using server = await rawServer(() => {});
  const observation = await observe(server.port);
  assertReached(observation);
  assert.equal(observation.address, "127.0.0.1");
  assert.equal(observation.family, 4);
  assert.ok((observation.timings.connect ?? -1) >= 0 && observation.timings.total >= 0);
  assert.equal(observation.transport, undefined);
  await until("the connection is closed", () => Promise.resolve(server.connections() === 0));
});

Deno.test("a port on which nobody listens is connect.refused", async () => {
  assertFailed(await observe(await closedPort()), "connect.refused", /127\.0\.0\.1:\d+ refused the connection/);
});

Deno.test("an IPv6 address is connected to without a name for the handshake", async () => {
  await using server = await rawServer((socket) => socket.write("hello"), {
    address: "::1",
    certificate: await root.issue({ names: [], addresses: ["::1"] }),
  });
  const observation = await observeCheck({
    kind: "tcp",
    target: `tls://[::1]:${server.port}`,
    config: { tls: { ca: root.pem }, expect: true },
  });
  assertReached(observation);
  assert.equal(observation.address, "::1");
  assert.equal(observation.received, "hello");
});

Deno.test("a banner is reported, and the total is the time to its last byte without the silence that ended it", async () => {
  await using server = await rawServer((socket) => socket.write("220 mail.example.com ESMTP\r\n"));
  const observation = await observe(server.port, { expect: true });
  assertReached(observation);
  assert.equal(observation.received, "220 mail.example.com ESMTP\r\n");
  assert.equal(observation.received_capped, undefined);
  assert.equal(observation.binary, undefined);
  assert.ok(observation.timings.total < 200, `${observation.timings.total} ms`);
  assert.ok((observation.timings.first_byte ?? -1) >= 0);
});

Deno.test("what is sent, with its secrets, is answered", async () => {
  await using server = await rawServer((socket) => {
    socket.once("data", (chunk: Uint8Array) => socket.end(`+${new TextDecoder().decode(chunk)}`));
  });
  const observation = await observe(server.port, { send: "AUTH ${UPTUPLE_SECRET_REDIS}\r\n", expect: true }, {
    environment: { UPTUPLE_SECRET_REDIS: "hunter2hunter2" },
  });
  assertReached(observation);
  assert.equal(server.received(), "AUTH hunter2hunter2\r\n");
  assert.equal(observation.received, "+AUTH [secret REDIS]\r\n");
});

Deno.test("what is sent arrives also where no answer is wanted", async () => {
  await using server = await rawServer(() => {});
  assertReached(await observe(server.port, { send: "x".repeat(100_000) }));
  await until("all of it has arrived", () => Promise.resolve(server.received().length === 100_000));
});

Deno.test("a banner that comes in pieces is read to its end", async () => {
  await using server = await rawServer((socket) => {
    socket.write("first ");
    setTimeout(() => socket.write("second "), 100);
    setTimeout(() => socket.write("third"), 200);
  });
  assert.equal((await observe(server.port, { expect: true })).received, "first second third");
});

Deno.test("a server that is slow to begin is given as much patience for the rest", async () => {
  await using server = await rawServer((socket) => {
    setTimeout(() => socket.write("first "), 300);
    setTimeout(() => socket.write("second"), 750);
  });
  assert.equal((await observe(server.port, { expect: true })).received, "first second");
});

Deno.test("a port that is open and silent is timeout.expect", async () => {
  await using server = await rawServer(() => {});
  const observation = await observe(server.port, { expect: true }, { timeoutMs: 300 });
  assertFailed(observation, "timeout.expect", /sent nothing within 300 ms/);
  assert.equal(observation.received, undefined);
});

Deno.test("a server that never pauses is read until the deadline, which is no failure", async () => {
  await using server = await rawServer((socket) => {
    const timer = setInterval(() => socket.write("."), 20);
    socket.once("close", () => clearInterval(timer));
  });
  const observation = await observe(server.port, { expect: true }, { timeoutMs: 400 });
  assertReached(observation);
  assert.match(observation.received ?? "", /^\.{5,40}$/);
});

Deno.test("of a huge banner 4 KiB are read, at once", async () => {
  await using server = await rawServer((socket) => {
    const pump = () => {
      while (!socket.destroyed && socket.write("x".repeat(65_536)));
    };
    socket.on("drain", pump);
    pump();
  });
  const observation = await observe(server.port, { expect: true });
  assertReached(observation);
  assert.equal(observation.received, "x".repeat(4096));
  assert.equal(observation.received_capped, true);
  assert.ok(observation.timings.total < 2000);
});

Deno.test("binary bytes are reported as text that a database can hold, and marked", async () => {
  await using server = await rawServer((socket) => socket.end(new Uint8Array([0x4a, 0, 0xff, 0xfe, 0x0a, 0x1b, 0x41])));
  const observation = await observe(server.port, { expect: true });
  assert.equal(observation.received, "J\ufffd\ufffd\ufffd\n\ufffdA");
  assert.equal(observation.binary, true);
});

Deno.test("a character that the limit cuts in two does not make a text binary", async () => {
  await using server = await rawServer((socket) => socket.write("x".repeat(4095) + "é".repeat(10)));
  const observation = await observe(server.port, { expect: true });
  assert.equal(observation.received, "x".repeat(4095));
  assert.equal(observation.binary, undefined);
});

Deno.test("a server that closes without a word is tcp.closed where a word was expected, and reached where none was", async () => {
  await using server = await rawServer((socket) => socket.end());
  assertFailed(await observe(server.port, { expect: true }), "tcp.closed", /took the connection and closed it/);
  assertReached(await observe(server.port));
});

Deno.test("a server that resets the connection is connect.reset", async () => {
  await using server = await rawServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
  assertFailed(await observe(server.port, { send: "x", expect: true }), "connect.reset");
});

Deno.test("a reset after the banner leaves the banner", async () => {
  await using server = await rawServer((socket) => {
    socket.write("bye");
    setTimeout(() => socket.resetAndDestroy(), 50);
  });
  assert.equal((await observe(server.port, { expect: true })).received, "bye");
});

Deno.test("no protocol is offered in the handshake, so that servers of one that is not HTTP's accept it", async () => {
  await using server = await rawServer((socket) => socket.write("* OK IMAP\r\n"), {
    certificate: await root.issue(),
    alpn: ["imap"],
  });
  const observation = await observe(server.port, { tls: { ca: root.pem }, expect: true });
  assertReached(observation);
  assert.equal(observation.received, "* OK IMAP\r\n");
  assert.equal(observation.certificate?.subject, "CN=server");
  assert.ok((observation.timings.tls ?? 0) > 0);
});

Deno.test("a certificate that is not trusted is an error, and a warning where that is allowed", async () => {
  await using server = await rawServer(() => {}, { certificate: await selfSigned() });
  const refused = await observe(server.port, { tls: true });
  assertFailed(refused, "tls.self_signed");
  assert.equal(refused.certificate?.subject, "CN=alone");
  const allowed = await observe(server.port, { tls: true, insecure: true });
  assertReached(allowed);
  assert.deepEqual(allowed.warnings, ["tls.self_signed"]);
});

Deno.test("TLS on a port that does not speak it is tls.handshake", async () => {
  await using server = await rawServer((socket) => socket.write("220 plain text here\r\n"));
  assertFailed(await observe(server.port, { tls: true }), "tls.handshake", /does not speak TLS/);
});

Deno.test("a handshake that stops half way is timeout.tls", async () => {
  await using server = await rawServer((socket) =>
    socket.once("data", () => socket.write(new Uint8Array([0x16, 3, 3])))
  );
  assertFailed(await observe(server.port, { tls: true }, { timeoutMs: 300 }), "timeout.tls");
});

Deno.test("an address that the policy denies is not connected to", async () => {
  await using server = await rawServer(() => {});
  const observation = await observe(server.port, {}, { policy: networkPolicy({ deny: ["127.0.0.0/8"] }) });
  assertFailed(observation, "policy.denied", /127\.0\.0\.0\/8/);
});

Deno.test("the network policy sees what a name resolves to", async () => {
  const observation = await observeCheck({ kind: "tcp", target: "tcp://inside.example:25", config: {} }, {
    resolve: () => Promise.resolve([{ address: "169.254.169.254", family: 4 }]),
  });
  assertFailed(observation, "policy.denied", /169\.254\.0\.0\/16/);
});

Deno.test("a secret that is missing, and one that makes no host, say nothing about a target", async () => {
  const check = { kind: "tcp", target: "tcp://${UPTUPLE_SECRET_HOST}:25", config: {} } as const;
  assertFailed(await observeCheck(check), "secret.missing", /UPTUPLE_SECRET_HOST/);
  const environment = { UPTUPLE_SECRET_HOST: "a b/c" };
  assertFailed(await observeCheck(check, { environment }), "secret.missing", /no host and port/);
});

Deno.test("a runtime that stops gives the check up at once", async () => {
  await using server = await rawServer(() => {});
  const stop = new AbortController();
  const check = { kind: "tcp", target: `tcp://127.0.0.1:${server.port}`, config: { expect: true } } as const;
  const outcome = checkOnce(check, { signal: stop.signal });
  await until("the server is connected to", () => Promise.resolve(server.connections() === 1));
  stop.abort();
  assert.deepEqual(await outcome, { aborted: true });
  await until("the connection is closed", () => Promise.resolve(server.connections() === 0));
});
