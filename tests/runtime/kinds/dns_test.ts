import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
// @ts-types="../../../src/jobs/kinds/dns_packet.d.ts"
import { type Answer, encode, TRUNCATED_RESPONSE } from "dns-packet";
import type { DnsConfig } from "../../../src/jobs/kinds/dns_probe.ts";
import { probeDns } from "../../../src/jobs/kinds/dns_probe.ts";
import { startDeadline } from "../../../src/jobs/deadline.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import type { Observation } from "../../../src/jobs/observation.ts";
import { emptyTrail } from "../../../src/jobs/trail.ts";
import { secretStore } from "../../../src/secrets.ts";
import { type CheckOptions, observeCheck } from "../../support/kinds.ts";
import { assertFailed } from "../../support/probing.ts";
import { closedPort } from "../../support/raw_server.ts";
import { RECURSION_AVAILABLE, replyTo, resolver, type ResolverBehaviour } from "../../support/resolver.ts";

const A = (name: string, data: string): Answer => ({ type: "A", name, data });
const ALIAS = (name: string, data: string): Answer => ({ type: "CNAME", name, data });

/** Asks a resolver that behaves so for `www.example.com`. */
async function ask(behaviour: ResolverBehaviour, config: DnsConfig = {}, options: CheckOptions = {}) {
  await using server = await resolver(behaviour);
  const observation = await observeCheck({
    kind: "dns",
    target: "dns:www.example.com",
    config: { resolver: server.address, ...config },
  }, options);
  return { observation, queries: server.queries };
}

function assertAnswers(observation: Observation, answers: string[]): void {
  assert.equal(observation.error, undefined, observation.error?.message);
  assert.equal(observation.rcode, "NOERROR");
  assert.deepEqual(observation.answers, answers);
}

Deno.test("addresses are reported in one order, whatever order they came in, with the resolver and the time", async () => {
  const { observation, queries } = await ask({
    udp: (query) => replyTo(query, [A("www.example.com", "192.0.2.20"), A("www.example.com", "192.0.2.10")]),
  });
  assertAnswers(observation, ["192.0.2.10", "192.0.2.20"]);
  assert.equal(observation.address, "127.0.0.1");
  assert.ok((observation.timings.dns ?? -1) >= 0);
  assert.deepEqual(queries.map(({ over, packet }) => [over, packet.questions[0]?.name, packet.questions[0]?.type]), [
    ["udp", "www.example.com", "A"],
  ]);
});

const records: readonly [type: NonNullable<DnsConfig["record_type"]>, record: Answer, text: string][] = [
  ["AAAA", { type: "AAAA", name: "www.example.com", data: "2001:db8::1" }, "2001:db8::1"],
  ["CNAME", ALIAS("www.example.com", "example.com"), "example.com"],
  ["NS", { type: "NS", name: "www.example.com", data: "ns1.example.com" }, "ns1.example.com"],
  ["PTR", { type: "PTR", name: "www.example.com", data: "host.example.com" }, "host.example.com"],
  [
    "MX",
    { type: "MX", name: "www.example.com", data: { preference: 10, exchange: "mail.example.com" } },
    "10 mail.example.com",
  ],
  [
    "SRV",
    { type: "SRV", name: "www.example.com", data: { priority: 1, weight: 2, port: 5060, target: "sip.example.com" } },
    "1 2 5060 sip.example.com",
  ],
  ["TXT", { type: "TXT", name: "www.example.com", data: ["v=spf1 ", "-all é"] }, "v=spf1 -all é"],
  [
    "CAA",
    { type: "CAA", name: "www.example.com", data: { flags: 0, tag: "issue", value: "ca.example" } },
    "0 issue ca.example",
  ],
  [
    "SOA",
    {
      type: "SOA",
      name: "www.example.com",
      data: {
        mname: "ns.example.com",
        rname: "admin.example.com",
        serial: 7,
        refresh: 1,
        retry: 2,
        expire: 3,
        minimum: 4,
      },
    },
    "ns.example.com admin.example.com 7 1 2 3 4",
  ],
];
for (const [type, record, text] of records) {
  Deno.test(`a ${type} record is written as "${text}"`, async () => {
    const { observation, queries } = await ask({ udp: (query) => replyTo(query, [record]) }, { record_type: type });
    assertAnswers(observation, [text]);
    assert.equal(queries[0]?.packet.questions[0]?.type, type);
  });
}

Deno.test("addresses behind aliases are the name's, and those of names that nobody asked for are not", async () => {
  const { observation } = await ask({
    udp: (query) =>
      replyTo(query, [
        ALIAS("WWW.example.com", "cdn.example.net"),
        ALIAS("cdn.example.net", "edge.example.org"),
        A("edge.example.org", "192.0.2.1"),
        A("stranger.example", "192.0.2.99"),
      ]),
  });
  assertAnswers(observation, ["192.0.2.1"]);
});

Deno.test("aliases that go round in a circle are no answer, and a warning", async () => {
  const { observation } = await ask({
    udp: (query) => replyTo(query, [ALIAS("www.example.com", "b.example"), ALIAS("b.example", "www.example.com")]),
  });
  assertAnswers(observation, []);
  assert.deepEqual(observation.warnings, ["cname_loop"]);
});

Deno.test("a name without such a record has no answers, which is no error of the resolver", async () => {
  const { observation } = await ask({ udp: (query) => replyTo(query) });
  assertAnswers(observation, []);
  assert.equal(observation.warnings, undefined);
});

Deno.test("a server that is neither the name's own nor asks others is lame", async () => {
  const { observation } = await ask({ udp: (query) => replyTo(query, [], { flags: 0 }) });
  assertAnswers(observation, []);
  assert.deepEqual(observation.warnings, ["lame"]);
});

for (
  const [rcode, code] of [["NXDOMAIN", "dns.nxdomain"], ["SERVFAIL", "dns.servfail"], ["REFUSED", "dns.refused"], [
    "NOTIMP",
    "dns",
  ]] as const
) {
  Deno.test(`${rcode} is ${code}, with the code that the resolver gave`, async () => {
    const { observation } = await ask({ udp: (query) => replyTo(query, [], { rcode }) });
    assertFailed(observation, code, /^A www\.example\.com: /);
    assert.equal(observation.rcode, rcode);
    assert.equal(observation.answers, undefined);
  });
}

Deno.test("a refusal that leaves the question out is a refusal", async () => {
  const { observation } = await ask({
    udp: (query) => ({ ...replyTo(query, [], { rcode: "REFUSED" }), questions: [] }),
  });
  assertFailed(observation, "dns.refused");
});

Deno.test("what is too long for UDP is asked for over TCP", async () => {
  const many = Array.from({ length: 300 }, (_, index) => A("www.example.com", `192.0.2.${index % 250}`));
  const { observation, queries } = await ask({
    udp: (query) => replyTo(query, many.slice(0, 3), { flags: RECURSION_AVAILABLE | TRUNCATED_RESPONSE }),
    tcp: (query) => replyTo(query, many),
  });
  assert.deepEqual(queries.map(({ over }) => over), ["udp", "tcp"]);
  assert.equal(observation.answers?.length, 100);
  assert.deepEqual(observation.warnings, ["answers_capped"]);
});

Deno.test("a resolver that has no TCP for what is too long for UDP is what the connection says", async () => {
  const { observation } = await ask({
    udp: (query) => replyTo(query, [], { flags: TRUNCATED_RESPONSE }),
    tcp: () => null,
  });
  assertFailed(observation, "protocol", /ended the connection before its answer/);
});

Deno.test("an answer over TCP that is none is protocol", async () => {
  const { observation } = await ask({
    udp: (query) => replyTo(query, [], { flags: TRUNCATED_RESPONSE }),
    tcp: () => Buffer.from("no message at all"),
  });
  assertFailed(observation, "protocol", /is none to this question/);
});

Deno.test("messages with another id, for another name, or that are none, are ignored, and the answer after them counts", async () => {
  const { observation } = await ask({
    udp: (query) => [
      { ...replyTo(query, [A("www.example.com", "192.0.2.66")]), id: (query.id + 1) & 0xffff },
      { ...replyTo(query, [A("bank.example", "192.0.2.66")]), questions: [{ type: "A", name: "bank.example" }] },
      Buffer.from("nonsense"),
      Buffer.concat([encode(replyTo(query)).subarray(0, 12), Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])]),
      replyTo(query, [A("www.example.com", "192.0.2.1")]),
    ],
  });
  assertAnswers(observation, ["192.0.2.1"]);
});

Deno.test("an answer with a wrong id and nothing else is timeout.dns", async () => {
  const { observation } = await ask(
    { udp: (query) => ({ ...replyTo(query, [A("www.example.com", "192.0.2.66")]), id: (query.id + 1) & 0xffff }) },
    {},
    { timeoutMs: 300 },
  );
  assertFailed(observation, "timeout.dns", /the resolver did not answer within 300 ms/);
  assert.equal(observation.rcode, undefined);
});

Deno.test("a lost datagram is sent again", async () => {
  const { observation, queries } = await ask({
    udp: (query, index) => index === 0 ? null : replyTo(query, [A("www.example.com", "192.0.2.1")]),
  });
  assertAnswers(observation, ["192.0.2.1"]);
  assert.equal(queries.length, 2);
  assert.equal(queries[0]?.packet.id, queries[1]?.packet.id);
});

Deno.test("a resolver that does not know EDNS is asked without it", async () => {
  const { observation, queries } = await ask({
    udp: (query, index) =>
      index === 0 ? replyTo(query, [], { rcode: "FORMERR" }) : replyTo(query, [A("www.example.com", "192.0.2.1")]),
  });
  assertAnswers(observation, ["192.0.2.1"]);
  assert.equal(queries.length, 2);
});

Deno.test("a port where no resolver is answers nothing", async () => {
  const observation = await observeCheck({
    kind: "dns",
    target: "dns:www.example.com",
    config: { resolver: `127.0.0.1:${await closedPort()}` },
  }, { timeoutMs: 300 });
  assertFailed(observation, "timeout.dns");
});

Deno.test("a name in another script is asked for in ASCII", async () => {
  await using server = await resolver({ udp: (query) => replyTo(query, [A("xn--mnchen-3ya.example", "192.0.2.1")]) });
  const observation = await observeCheck({
    kind: "dns",
    target: "dns:München.example",
    config: { resolver: server.address },
  });
  assertAnswers(observation, ["192.0.2.1"]);
  assert.equal(server.queries[0]?.packet.questions[0]?.name, "xn--mnchen-3ya.example");
});

Deno.test("a name with an underscore is asked for as it is", async () => {
  await using server = await resolver({ udp: (query) => replyTo(query) });
  await observeCheck({ kind: "dns", target: "dns:_dmarc.example.com", config: { resolver: server.address } });
  assert.equal(server.queries[0]?.packet.questions[0]?.name, "_dmarc.example.com");
});

Deno.test("a chosen resolver is subject to the network policy", async () => {
  const { observation, queries } = await ask({ udp: (query) => replyTo(query) }, {}, {
    policy: networkPolicy({ deny: ["127.0.0.0/8"] }),
  });
  assertFailed(observation, "policy.denied");
  assert.equal(queries.length, 0);
});

Deno.test("without a chosen resolver the system's are asked in turn, wherever they are, until one answers", async () => {
  await using silent = await resolver({ udp: () => null });
  await using server = await resolver({ udp: (query) => replyTo(query, [A("www.example.com", "192.0.2.1")]) });
  using deadline = startDeadline(5000, new AbortController().signal);
  const trail = emptyTrail();
  const facts = await probeDns("dns:www.example.com", {}, secretStore(() => undefined).expansion(), {
    deadline,
    trail,
    policy: networkPolicy({ deny: ["127.0.0.0/8"] }),
    resolve: () => Promise.reject(new Error("not asked")),
  }, () => [silent.address, server.address]);
  assert.deepEqual(facts.observed.answers, ["192.0.2.1"]);
  assert.equal(silent.queries.length, 1);
});
