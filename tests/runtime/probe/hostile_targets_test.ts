import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { ErrorCode } from "../../../src/jobs/observation.ts";
import { authority } from "../../support/certificates.ts";
import { observe } from "../../support/probing.ts";
import { answer, type Behaviour, drips, says, target } from "../../support/targets.ts";
import { until } from "../../support/wait.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const HOSTILE_PROBES = 200;

Deno.test("200 probes of hostile targets at once stay within bounds, and each comes to its own end", async () => {
  const root = await authority();
  const noise = new Uint8Array(65536).fill(120);
  const hostile: readonly [behaviour: Behaviour, end: ErrorCode | "capped", secure?: boolean][] = [
    [drips(`${OK}\r\n`, noise), "capped"],
    [drips(`${OK}\r\n`, noise), "capped", true],
    [drips(OK, `X-Endless: ${"v".repeat(4096)}\r\n`), "protocol.header_too_large"],
    [drips(`${OK}X-Endless: `, noise), "protocol.header_too_large"],
    [drips("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)), "protocol.header_too_large"],
    [drips(`${OK}Transfer-Encoding: chunked\r\n\r\n1;`, noise), "protocol"],
    [says(answer("200 OK", ["Content-Encoding: gzip"], gzipSync(new Uint8Array(64 << 20)))), "capped"],
    [drips(`${OK}Content-Length: 1000\r\n\r\n`, "a", 100), "timeout.body"],
    [drips(`${OK}X-Slow: `, "a", 100), "timeout.headers"],
    [() => {}, "timeout.headers"],
  ];
  await using stack = new AsyncDisposableStack();
  const servers = await Promise.all(hostile.map(async ([behaviour, end, secure]) => {
    const server = await target(behaviour, secure === true ? { certificate: await root.issue() } : {});
    stack.use(server);
    return { url: server.url, end };
  }));
  const before = Deno.memoryUsage().rss;
  let highest = before;
  const watch = setInterval(() => highest = Math.max(highest, Deno.memoryUsage().rss), 20);

  const ends = await Promise.all(Array.from({ length: HOSTILE_PROBES }, async (_, index) => {
    const server = servers[index % servers.length];
    assert.ok(server);
    const observation = await observe(server.url, { read_body: true, ca: root.pem }, { timeoutMs: 3000 });
    const end = observation.error?.code ?? (observation.body_capped === true ? "capped" : "answered");
    return { expected: server.end, end };
  }));
  clearInterval(watch);

  for (const { expected, end } of ends) assert.equal(end, expected);
  // The servers live in the same process and their buffers count too. The bombs alone hold 1.2 GiB, and the floods have no end.
  assert.ok(highest - before < 384 << 20, `grew by ${(highest - before) >> 20} MiB`);
});

Deno.test("a thousand probes leave no connection open", async () => {
  await using server = await target(says(answer("200 OK", [], "hello")));
  const open = () => [...Deno.readDirSync("/proc/self/fd")].length;
  await observe(server.url);
  const before = open();
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 50 }, () => observe(server.url, { read_body: round % 2 === 0 })));
  }
  await until("the connections are closed", () => open() <= before + 5);
});
