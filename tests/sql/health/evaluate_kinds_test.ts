import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { claimOne, complete, type Observation } from "../../support/services.ts";

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString();

/** A url, options and assertions, what a probe saw, and the verdict. */
const CHECKS: [
  url: string,
  options: object,
  assertions: object[],
  observation: Observation,
  verdict: (string | null)[],
][] = [
  ["tcp://a:22", {}, [], { connected: true }, ["UP", null, "connected"]],
  ["tcp://a:22", {}, [], { error: { code: "connect.refused", message: "refused" } }, [
    "DOWN",
    "connect.refused",
    "refused",
  ]],
  ["tcp://a:22", { expect: true }, [], { error: { code: "timeout.expect", message: "silence" } }, [
    "DOWN",
    "timeout.expect",
    "silence",
  ]],
  ["tcp://a:25", {}, [{ body: { matches: "^220 " } }], { connected: true, received: "220 mail ESMTP\r\n" }, [
    "UP",
    null,
    "connected",
  ]],
  ["tcp://a:25", {}, [{ body: { matches: "^220 " } }], { connected: true, received: "554 no\r\n" }, [
    "DOWN",
    "assertion.body",
    'body matches "^220 ": found no match in 8 characters',
  ]],
  [
    "tls://a:993",
    {},
    [{ certificate_days: { ">": 20 } }],
    { connected: true, certificate: { not_after: inDays(7) } },
    [
      "DOWN",
      "assertion.certificate",
      "certificate_days > 20: found 7",
    ],
  ],
  ["tcp://a:22", {}, [{ latency_ms: { "<": 5 } }], { connected: true, timings: { total: 7.5 } }, [
    "DEGRADED",
    "assertion.latency",
    "latency_ms < 5: found 7.5",
  ]],
  ["dns:a.example", {}, [], { answers: ["10.0.0.1"], rcode: "NOERROR" }, ["UP", null, "A 10.0.0.1"]],
  ["dns:a.example", { record_type: "MX" }, [], { answers: [] }, ["DOWN", "dns.no_answer", "there is no MX record"]],
  ["dns:a.example", {}, [], { error: { code: "dns.nxdomain", message: "no such name" } }, [
    "DOWN",
    "dns.nxdomain",
    "no such name",
  ]],
  ["dns:a.example", { answers: ["10.0.0.1"] }, [], { answers: ["10.0.0.2", "10.0.0.1"] }, [
    "UP",
    null,
    "A 10.0.0.1, 10.0.0.2",
  ]],
  ["dns:a.example", { answers: ["10.0.0.1", "10.0.0.3"] }, [], { answers: ["10.0.0.2", "10.0.0.1"] }, [
    "DOWN",
    "dns.answers",
    "A 10.0.0.1, 10.0.0.2, expected all of 10.0.0.1, 10.0.0.3",
  ]],
  ["dns:a.example", { answers: { exactly: ["10.0.0.1"] } }, [], { answers: ["10.0.0.2", "10.0.0.1"] }, [
    "DOWN",
    "dns.answers",
    "A 10.0.0.1, 10.0.0.2, expected exactly 10.0.0.1",
  ]],
  ["dns:a.example", { answers: { any_of: ["10.0.0.9", "10.0.0.2"] } }, [], { answers: ["10.0.0.2"] }, [
    "UP",
    null,
    "A 10.0.0.2",
  ]],
  ["dns:a.example", { record_type: "AAAA", answers: ["2001:DB8::1"] }, [], { answers: ["2001:0db8:0:0::1"] }, [
    "UP",
    null,
    "AAAA 2001:db8::1",
  ]],
  ["dns:a.example", { record_type: "CNAME", answers: ["Target.example."] }, [], { answers: ["target.EXAMPLE"] }, [
    "UP",
    null,
    "CNAME target.example",
  ]],
  ["dns:a.example", { record_type: "TXT", answers: ["v=spf1 -all"] }, [], { answers: ["V=SPF1 -all"] }, [
    "DOWN",
    "dns.answers",
    "TXT V=SPF1 -all, expected all of v=spf1 -all",
  ]],
  ["dns:a.example", {}, [], { answers: ["no address \u0007"] }, ["UP", null, "A no address \ufffd"]],
  ["dns:a.example", {}, [{ latency_ms: { "<": 5 } }], { answers: ["10.0.0.1"], timings: { total: 9 } }, [
    "DEGRADED",
    "assertion.latency",
    "latency_ms < 5: found 9",
  ]],
  ["certificate://a", {}, [], { connected: true, certificate: { not_after: inDays(20) } }, [
    "UP",
    null,
    "the certificate has 20 days left",
  ]],
  ["certificate://a", { days: 30 }, [], { connected: true, certificate: { not_after: inDays(20) } }, [
    "DOWN",
    "certificate.days",
    "the certificate has 20 days left, expected at least 30",
  ]],
  ["certificate://a", {}, [], { connected: true }, [
    "DOWN",
    "certificate.missing",
    "the server showed no certificate with a date",
  ]],
  ["certificate://a", {}, [], { error: { code: "tls.expired", message: "expired" } }, [
    "DOWN",
    "tls.expired",
    "expired",
  ]],
  [
    "certificate://a",
    {},
    [{ certificate_days: { ">=": 28 }, otherwise: "DEGRADED" }],
    { connected: true, certificate: { not_after: inDays(20) } },
    ["DEGRADED", "assertion.certificate", "certificate_days >= 28: found 20"],
  ],
  ["postgresql://a/b", {}, [], { connected: true, server_version: "18.1" }, ["UP", null, "PostgreSQL 18.1"]],
  ["postgresql://a/b", {}, [], { error: { code: "postgresql.refused_login", message: "password" } }, [
    "DOWN",
    "postgresql.refused_login",
    "password",
  ]],
  ["postgresql:${UPTUPLE_SECRET_DSN}", {}, [], { error: { code: "secret.missing", message: "not set" } }, [
    "INCONCLUSIVE",
    "secret.missing",
    "not set",
  ]],
];

async function add(sql: TestSql, url: string, options: object, assertions: object[]): Promise<void> {
  await sql`
    select uptuple.add_service(
      name => 'a', url => ${url}, options => ${sql.json(options as never)}, assertions => ${
    sql.json(assertions as never)
  }
    )`;
}

Deno.test("each kind of check is judged by what it is for", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (const [url, options, assertions, observation, verdict] of CHECKS) {
    await t.step(`${url} ${JSON.stringify([options, assertions, observation])}`.slice(0, 120), async () => {
      await add(owner, url, options, assertions);

      assert.equal(await complete(owner, await claimOne(owner), observation), true);

      const [result] = await owner`select status, code, reason from uptuple.result order by recorded_at desc limit 1`;
      assert.deepEqual([result.status, result.code, result.reason], verdict);
      await owner`select uptuple.remove_service('a')`;
    });
  }
});

Deno.test("what was received is not kept, what was answered is", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await add(owner, "tcp://a:25", { expect: true }, []);
  await complete(owner, await claimOne(owner), { connected: true, received: "220 hello", address: "10.0.0.1" });
  await owner`select uptuple.remove_service('a')`;
  await add(owner, "dns:a", {}, []);
  await complete(owner, await claimOne(owner), { answers: ["10.0.0.1"], rcode: "NOERROR" });

  const kept = await owner<{ detail: unknown }[]>`select detail from uptuple.result order by service_id`;
  assert.deepEqual(kept.map((row) => row.detail), [
    { address: "10.0.0.1" },
    { answers: ["10.0.0.1"], rcode: "NOERROR" },
  ]);
});

Deno.test("an observation that is none of its kind is refused, and its job is tried again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const nonsense: [url: string, observation: Observation][] = [
    ["tcp://a:1", { status: 200 }],
    ["tcp://a:1", { connected: "yes" }],
    ["dns:a", { connected: true }],
    ["dns:a", { answers: "10.0.0.1" }],
    ["certificate://a", {}],
    ["postgresql://a/b", { error: "refused" }],
  ];

  for (const [url, observation] of nonsense) {
    await add(owner, url, {}, []);
    const job = await claimOne(owner);
    assert.equal(await complete(owner, job, observation), false, url);
    const [row] = await owner`select state, error from uptuple.job where id = ${job.job_id}`;
    assert.equal(row.state, "READY");
    assert.match(row.error, /the observation is neither an answer nor an error with a code/);
    await owner`select uptuple.remove_service('a')`;
  }
});
