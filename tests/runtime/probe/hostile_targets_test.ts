import assert from "node:assert/strict";
import type { ProbeOutcome } from "../../../src/jobs/probe.ts";
import { authority } from "../../support/certificates.ts";
import { hostileTargets } from "../../support/hostile_targets.ts";
import { observe, probeOnce } from "../../support/probing.ts";
import { answer, says, target } from "../../support/targets.ts";
import { until } from "../../support/wait.ts";

const HOSTILE_PROBES = 200;

/** How each target ends a probe. The slow ones end with the deadline; in which phase depends on how busy the machine is. */
const ENDS: Record<string, string> = {
  "endless body": "capped",
  "endless body over TLS": "capped",
  "endless chunks": "capped",
  "endless headers": "protocol.header_too_large",
  "endless cookies": "protocol.header_too_large",
  "endless header": "protocol.header_too_large",
  "endless interim answers": "protocol.header_too_large",
  "endless chunk extension": "protocol",
  "endless trailers": "protocol",
  "endless redirects": "redirect.limit",
  "endless handshake": "tls.handshake",
  "bomb": "capped",
  "bomb in brotli": "capped",
  "bomb within bombs": "capped",
  "bomb of nothing": "body.decode",
  "dripping body": "timeout",
  "dripping header": "timeout",
  "dripping interim answers": "timeout",
  "dripping handshake": "timeout",
  "silence": "timeout",
};

/** A probe that a busy machine was too late to end has ended with its deadline too. */
function endOf(outcome: ProbeOutcome): string {
  if (!("observation" in outcome)) return "timeout";
  const { error, body_capped } = outcome.observation;
  if (error === undefined) return body_capped === true ? "capped" : "answered";
  return error.code.includes("timeout") ? "timeout" : error.code;
}

Deno.test("200 probes of hostile targets at once stay within bounds, and each comes to its own end", async () => {
  const root = await authority();
  await using hostile = await hostileTargets(await root.issue());
  const targets = Object.entries(ENDS);
  const config = { read_body: true, follow_redirects: 5, tls: { ca: root.pem } };
  const before = Deno.memoryUsage().rss;
  let highest = before;
  const watch = setInterval(() => highest = Math.max(highest, Deno.memoryUsage().rss), 20);

  const ends = await Promise.all(Array.from({ length: HOSTILE_PROBES }, async (_, index) => {
    const [name = "", expected = ""] = targets[index % targets.length] ?? [];
    const timeoutMs = expected === "timeout" ? 3000 : 60_000;
    return {
      name,
      end: endOf(await probeOnce(hostile.urls[name] ?? "", config, { timeoutMs })),
    };
  }));
  clearInterval(watch);

  for (const { name, end } of ends) {
    assert.equal(end.replace(/^(timeout\..*|connect\.timeout)$/, "timeout"), ENDS[name], name);
  }
  // The bombs alone hold 1.9 GiB, and the floods have no end.
  assert.ok(highest - before < 320 << 20, `grew by ${(highest - before) >> 20} MiB`);
});

Deno.test("a thousand probes leave no connection open", async () => {
  await using server = await target(says(answer("200 OK", [], "hello")));
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 50 }, () => observe(server.url, { read_body: round % 2 === 0 })));
  }
  assert.equal(server.requests.length, 1000);
  await until("the connections are closed", () => server.connections() === 0);
});
