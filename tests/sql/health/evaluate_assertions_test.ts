import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addService,
  assertNoViolations,
  claim,
  claimOne,
  complete,
  completeBatch,
  completion,
  type Observation,
} from "../../support/services.ts";

const OUTCOMES = ["PASS", "FAIL", "MISSING", "INVALID_JSON"] as const;

/** What an assertion comes to, and the words for what was found. */
type Row = [assertion: object, observation: object, outcome: (typeof OUTCOMES)[number], found: string];

const json = (body: unknown): object => ({ status: 200, body: JSON.stringify(body) });
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString();

const ROWS: Row[] = [
  [{ status: "200-299, 404" }, { status: 404 }, "PASS", "404"],
  [{ status: "200-299, 404" }, { status: 500 }, "FAIL", "500"],

  [{ header: "Etag", exists: true }, { status: 200, headers: { etag: "" } }, "PASS", "''"],
  [{ header: "etag", exists: true }, { status: 200 }, "MISSING", "no such header"],
  [{ header: "etag", exists: false }, { status: 200, headers: {} }, "PASS", "no such header"],
  [{ header: "etag", exists: false }, { status: 200, headers: { etag: "a" } }, "FAIL", "'a'"],
  [{ header: "a", "==": "MISS" }, { status: 200, headers: { a: "MISS" } }, "PASS", "'MISS'"],
  [{ header: "a", "==": "MISS" }, { status: 200, headers: { a: "miss" } }, "FAIL", "'miss'"],
  [{ header: "a", "!=": "MISS" }, { status: 200, headers: { a: "HIT" } }, "PASS", "'HIT'"],
  [{ header: "a", "!=": "MISS" }, { status: 200 }, "MISSING", "no such header"],
  [{ header: "a", contains: "json" }, { status: 200, headers: { a: "text/html" } }, "FAIL", "it not in 'text/html'"],
  [{ header: "a", matches: "^\\d+$" }, { status: 200, headers: { a: "12x" } }, "FAIL", "no match in '12x'"],

  [{ body: { contains: "good" } }, { status: 200, body: "all good" }, "PASS", "8 characters"],
  [{ body: { contains: "Good" } }, { status: 200, body: "all good" }, "FAIL", "it not in 8 characters"],
  [{ body: { matches: "(?i)GOOD$" } }, { status: 200, body: "all good" }, "PASS", "8 characters"],
  [{ body: { contains: "%_\\" } }, { status: 200, body: "a%_\\b" }, "PASS", "5 characters"],
  [{ body: { not_contains: "error" } }, { status: 200, body: "an error" }, "FAIL", "it in 8 characters"],
  [{ body: { not_matches: "err|fail" } }, { status: 200, body: "failed" }, "FAIL", "a match in 6 characters"],
  [{ body: { "==": "" } }, { status: 204, body: "" }, "PASS", "0 characters"],
  [{ body: { contains: "x" } }, { status: 200 }, "MISSING", "no body"],
  [
    { body: { contains: "end" } },
    { status: 200, body: "begin", body_capped: true },
    "FAIL",
    "it not in 5 characters, of which more was not read",
  ],
  [
    { body: { contains: "begin" } },
    { status: 200, body: "begin", body_capped: true },
    "PASS",
    "5 characters, of which more was not read",
  ],

  [{ json: "$.a.b", "<": 3 }, json({ a: { b: 2.42 } }), "PASS", "2.42"],
  [{ json: "$.a", "<": 3 }, json({ a: 10 }), "FAIL", "10"],
  [{ json: "$.a", "<": 3 }, json({ a: "10" }), "FAIL", '"10", a text'],
  [{ json: "$.a", "<": 3 }, json({ a: "2" }), "FAIL", '"2", a text'],
  [{ json: "$.a", "==": 10 }, json({ a: "10" }), "FAIL", '"10", a text'],
  [{ json: "$.a", "==": "10" }, json({ a: 10 }), "FAIL", "10"],
  [{ json: "$.a", "!=": 10 }, json({ a: "10" }), "PASS", '"10"'],
  [{ json: "$.a", "==": 1 }, { status: 200, body: '{"a": 1.00e0}' }, "PASS", "1.00"],
  [{ json: "$.a", "<": 3 }, json({ a: null }), "FAIL", "null"],
  [{ json: "$.a", "<": 3 }, json({ a: true }), "FAIL", "true"],
  [{ json: "$.a", "==": null }, json({ a: null }), "PASS", "null"],
  [{ json: "$.a", exists: true }, json({ a: null }), "PASS", "null"],
  [{ json: "$.a", exists: true }, json({ b: 1 }), "MISSING", "nothing at this path"],
  [{ json: "$.a", "==": 1 }, json({ b: 1 }), "MISSING", "nothing at this path"],
  [{ json: "$.a", "!=": 1 }, json({ b: 1 }), "MISSING", "nothing at this path"],
  [{ json: "$.a", exists: false }, json({ b: 1 }), "PASS", "nothing at this path"],
  [{ json: "$.a", exists: false }, json({ a: 1 }), "FAIL", "1"],
  [{ json: "strict $.a.b", "==": 1 }, json({ a: 1 }), "MISSING", "nothing at this path"],
  [{ json: "$.a", ">=": 1, "<": 5 }, json({ a: 5 }), "FAIL", "5"],
  [{ json: "$.a", contains: "ok" }, json({ a: "it is ok" }), "PASS", '"it is ok"'],
  [{ json: "$.a", matches: "^ok" }, json({ a: 7 }), "FAIL", "7"],
  [{ json: "$.a", ">=": "2026-01-01" }, json({ a: "2026-11-30T12:00:00Z" }), "PASS", '"2026-11-30T12:00:00Z"'],
  [{ json: "$.a", "==": [1, { b: "x" }] }, json({ a: [1, { b: "x" }] }), "PASS", '[1, {"b": "x"}]'],
  [{ json: "$.a[*].s", "==": "pass" }, json({ a: [{ s: "pass" }, { s: "warn" }] }), "FAIL", '"warn" (value 2 of 2)'],
  [{ json: "$.a[*].s", "==": "pass" }, json({ a: [] }), "MISSING", "nothing at this path"],
  [{ json: "$[*] ? (@.n == 2).v", "==": 7 }, json([{ n: 1, v: 6 }, { n: 2, v: 7 }]), "PASS", "7"],
  [{ json: "$.a.size()", ">": 1 }, json({ a: [1, 2] }), "PASS", "2"],
  [
    { json: "$", exists: true },
    { status: 200, body: "<html>" },
    "INVALID_JSON",
    "no valid JSON: invalid input syntax for type json",
  ],
  [
    { json: "$.a", exists: false },
    { status: 200, body: "" },
    "INVALID_JSON",
    "no valid JSON: invalid input syntax for type json",
  ],
  [{ json: "$", exists: true }, { status: 200 }, "INVALID_JSON", "no body"],
  [
    { json: "$", exists: true },
    { status: 200, body: '{"a": [1,', body_capped: true },
    "INVALID_JSON",
    "no valid JSON: only the first 9 bytes of the body were read",
  ],

  [{ latency_ms: { "<": 800 } }, { status: 200, timings: { total: 799.9 } }, "PASS", "799.9"],
  [{ latency_ms: { "<": 800 } }, { status: 200, timings: { total: 800 } }, "FAIL", "800"],
  [{ latency_ms: { "<": 800 } }, { status: 200 }, "MISSING", "no time taken"],

  [{ certificate_days: { ">=": 14 } }, { status: 200, certificate: { not_after: inDays(14) } }, "PASS", "14"],
  [{ certificate_days: { ">=": 14 } }, { status: 200, certificate: { not_after: inDays(13.95) } }, "FAIL", "13.9"],
  [{ certificate_days: { ">=": 14 } }, { status: 200, certificate: { not_after: inDays(-3) } }, "FAIL", "-3"],
  [
    { certificate_days: { ">=": 14 } },
    { status: 200, certificate: { not_after: "soon" } },
    "MISSING",
    "no certificate",
  ],
  [{ certificate_days: { ">=": 14 } }, { status: 200 }, "MISSING", "no certificate"],

  [{ any: [{ status: 404 }, { body: { contains: "ok" } }] }, { status: 200, body: "ok" }, "PASS", 'body contains "ok"'],
  [
    { any: [{ status: 404 }, { body: { contains: "ok" } }] },
    { status: 200, body: "no" },
    "FAIL",
    'none: status 404: found 200; body contains "ok": found it not in 2 characters',
  ],
  [{ all: [{ status: 200 }, { json: "$.a", "<": 3 }] }, json({ a: 1 }), "PASS", "all of them"],
  [{ all: [{ status: 200 }, { json: "$.a", "<": 3 }] }, json({ a: 4 }), "FAIL", "json $.a < 3: found 4"],
  [
    {
      any: [{ all: [{ status: 200 }, { header: "x", exists: true }] }, {
        all: [{ status: 503 }, { header: "retry-after", exists: true }],
      }],
    },
    { status: 503, headers: { "retry-after": "60" } },
    "PASS",
    "all of (status 503 and header retry-after exists)",
  ],
];

/** Tries assertions; gives the rows without that of expected_statuses, and the verdict. */
async function tryOut(sql: TestSql, assertions: object[], observation: object) {
  const rows = await sql<Record<string, string>[]>`
    select * from uptuple.test_assertions(${sql.json({ expected_statuses: "100-599", assertions } as never)}, ${
    sql.json(observation as never)
  })`;
  const verdict = rows.at(-1);
  return { rows: rows.slice(0, -1).filter((row) => row.assertion !== "expected_statuses"), verdict };
}

/** The verdict of a stored check, with the service's own configuration. */
async function checked(sql: TestSql, assertions: object[], observation: Observation): Promise<Record<string, unknown>> {
  await sql`select uptuple.add_service(name => 'a', url => 'https://a/', assertions => ${
    sql.json(assertions as never)
  })`;
  const job = await claimOne(sql);
  assert.equal(await complete(sql, job, observation), true);
  const [result] = await sql`select status, code, reason, detail from uptuple.result`;
  return { ...result };
}

Deno.test("each assertion names its outcome and what it found", async (t) => {
  await using database = await emptiedDatabase();

  for (const [assertion, observation, outcome, found] of ROWS) {
    await t.step(`${JSON.stringify(assertion)} of ${JSON.stringify(observation)}`.slice(0, 150), async () => {
      const { rows: [row], verdict } = await tryOut(database.owner, [assertion], observation);

      assert.deepEqual([row?.outcome, row?.found], [outcome, found]);
      const failed = "latency_ms" in assertion ? "DEGRADED" : "DOWN";
      assert.equal(verdict?.outcome, outcome === "PASS" ? "UP" : failed);
    });
  }
});

Deno.test("DOWN beats DEGRADED, and every assertion that fails names itself in the reason", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slow = { latency_ms: { "<": 800 } };
  const short = { json: "$.depth", "<": 3, name: "the queue is short" };
  const soft = { body: { not_contains: "warning" }, otherwise: "DEGRADED" };
  const observation = { status: 200, body: '{"depth": 9, "note": "warning"}', timings: { total: 900 } };

  const both = await tryOut(owner, [slow, soft, short], observation);
  const softly = await tryOut(owner, [slow, soft], observation);

  assert.deepEqual([both.verdict?.outcome, both.verdict?.found], [
    "DOWN",
    'the queue is short: found 9; latency_ms < 800: found 900; body not_contains "warning": found it in 31 characters',
  ]);
  assert.deepEqual([softly.verdict?.outcome, softly.verdict?.found], [
    "DEGRADED",
    'latency_ms < 800: found 900; body not_contains "warning": found it in 31 characters',
  ]);
});

Deno.test("a status that is not expected is told with the assertions that fail beside it", async () => {
  await using database = await emptiedDatabase();

  const result = await checked(database.owner, [{ body: { contains: "ok" } }, { latency_ms: { "<": 5 } }], {
    status: 500,
    body: "no",
    timings: { total: 9 },
  });

  assert.deepEqual([result.status, result.code, result.reason], [
    "DOWN",
    "http.status",
    'HTTP 500, expected 200-299; body contains "ok": found it not in 2 characters; latency_ms < 5: found 9',
  ]);
});

Deno.test("expected_statuses yields to an assertion on the status where it was left at its default, and only there", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const either = [{ any: [{ status: 404 }, { all: [{ status: 200 }, { body: { contains: "ok" } }] }] }];
  await owner`select uptuple.add_service(name => 'a', url => 'https://a/', assertions => ${owner.json(either)})`;
  const judge = async (observation: object): Promise<string> => {
    const [verdict] = await owner`
      select verdict.status
      from uptuple.service_revision revision, uptuple.evaluate_observation(revision.config, ${
      owner.json(observation as never)
    }) verdict
      order by revision.revision desc limit 1`;
    return verdict.status;
  };

  assert.deepEqual([await judge({ status: 404 }), await judge({ status: 200, body: "no" })], ["UP", "DOWN"]);
  await owner`select uptuple.update_service('a', expected_statuses => '200-204')`;
  assert.deepEqual([await judge({ status: 404 }), await judge({ status: 200, body: "ok" })], ["DOWN", "UP"]);
  await owner`select uptuple.update_service('a', expected_statuses => '200-299')`;
  assert.equal(await judge({ status: 404 }), "UP");
  await owner`select uptuple.update_service('a', assertions => '[]')`;
  assert.equal(await judge({ status: 404 }), "DOWN", "without the assertion the default counts again");
});

Deno.test("where there was no answer nothing is asserted, and the error is the verdict", async () => {
  await using database = await emptiedDatabase();

  const result = await checked(database.owner, [{ body: { contains: "ok" } }], {
    error: { code: "connect.refused", message: "connection refused" },
    timings: { total: 1 },
  });

  assert.deepEqual([result.status, result.code, result.reason, result.detail], [
    "DOWN",
    "connect.refused",
    "connection refused",
    null,
  ]);
});

Deno.test("a body that cannot be decoded is DOWN where somebody looks at it, and elsewhere UP with a warning", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const undecodable = {
    status: 200,
    address: "127.0.0.1",
    error: { code: "body.decode", message: "the body is labelled gzip and is not" },
    warnings: ["odd"],
    timings: { total: 3 },
  };
  const asked = [
    { name: "plain", assertions: [], status: "UP", code: null },
    { name: "latency", assertions: [{ latency_ms: { "<": 800 } }], status: "UP", code: null },
    { name: "body", assertions: [{ body: { contains: "ok" } }], status: "DOWN", code: "body.decode" },
  ];

  for (const { name, assertions } of asked) {
    await owner`select uptuple.add_service(name => ${name}, url => 'https://a/', assertions => ${
      owner.json(assertions)
    })`;
  }
  const jobs = await claim(owner, 3);
  await completeBatch(owner, jobs.map((job) => completion(job, undecodable)));

  for (const { name, status, code } of asked) {
    const [result] = await owner`
      select result.status, result.code, result.detail from uptuple.result join uptuple.service on service.id = result.service_id
      where service.name = ${name}`;
    assert.deepEqual([result.status, result.code], [status, code], name);
    assert.deepEqual(result.detail, { address: "127.0.0.1", warnings: ["odd", "body_decode_error"] }, name);
  }
});

Deno.test("a body that did not end in time is judged by its beginning, if what was looked for is there", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const cut = {
    status: 200,
    body: '{"all": "good", "and',
    error: { code: "timeout.body", message: "no end in 3000 ms" },
  };
  const found = "HTTP 200, of a body that did not end in time";
  const rows: [what: string, assertions: object[], observation: object, verdict: unknown[]][] = [
    ["a text that is there", [{ body: { contains: "good" } }], cut, ["UP", found]],
    ["a pattern that is there", [{ body: { matches: "g[o]+d" } }], cut, ["UP", found]],
    ["one of two", [{ any: [{ body: { contains: "x" } }, { body: { contains: "good" } }] }], cut, ["UP", found]],
    ["a text that may still come", [{ body: { contains: "bad" } }], cut, ["DOWN", "no end in 3000 ms"]],
    ["a text that must not come", [{ body: { not_contains: "bad" } }], cut, ["DOWN", "no end in 3000 ms"]],
    ["both", [{ body: { contains: "good", not_contains: "bad" } }], cut, ["DOWN", "no end in 3000 ms"]],
    ["a pattern that asks for the end", [{ body: { matches: "and$" } }], cut, ["DOWN", "no end in 3000 ms"]],
    ["a pattern that asks for the end of a word", [{ body: { matches: "and\\M" } }], cut, [
      "DOWN",
      "no end in 3000 ms",
    ]],
    ["a path", [{ json: "$.all", "==": "good" }], cut, ["DOWN", "no end in 3000 ms"]],
    ["another status", [{ body: { contains: "good" } }, { status: 200 }], { ...cut, status: 500 }, [
      "DOWN",
      "no end in 3000 ms",
    ]],
    ["no body yet", [{ body: { contains: "good" } }], { ...cut, body: undefined }, ["DOWN", "no end in 3000 ms"]],
    ["a body that broke off", [{ body: { contains: "good" } }], {
      ...cut,
      error: { code: "body.truncated", message: "broke off" },
    }, ["DOWN", "broke off"]],
    ["too slow besides", [{ body: { contains: "good" } }, { latency_ms: { "<": 800 } }], {
      ...cut,
      timings: { total: 3000 },
    }, ["DEGRADED", "latency_ms < 800: found 3000, of a body that did not end in time"]],
  ];
  for (const [what, assertions, observation, expected] of rows) {
    await t.step(what, async () => {
      const { verdict } = await tryOut(owner, assertions, observation);
      assert.deepEqual([verdict?.outcome, verdict?.found], expected);
    });
  }
});

Deno.test("outcomes are kept for checks that were not plainly UP, without the body, and bounded", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const many = Array.from({ length: 20 }, (_, index) => ({ json: `$.k${index}`, "==": "x".repeat(490) }));
  await owner`select uptuple.add_service(name => 'a', url => 'https://a/', assertions => ${owner.json(many)})`;
  await addService(owner, "b", { url: "https://b/" });
  await owner`select uptuple.update_service('b', assertions => '[{"body": {"contains": "secret word"}}]')`;
  await owner`select uptuple.check_now('b')`;
  const body = JSON.stringify(Object.fromEntries(many.map((_, index) => [`k${index}`, "y".repeat(3000)])));

  const jobs = await claim(owner, 3);
  for (const job of jobs) {
    assert.equal(await complete(owner, job, { status: 200, body: job.service === "a" ? body : "secret word" }), true);
  }

  const [failed] = await owner`
    select length(reason) as reason, length(detail::text) as detail, jsonb_array_length(detail -> 'assertions') as outcomes
    from uptuple.result join uptuple.service on service.id = service_id where name = 'a'`;
  assert.equal(failed.outcomes, 20);
  assert.ok(failed.reason <= 500 && failed.detail < 16_000, `${failed.reason}, ${failed.detail}`);
  const plain = await owner<{ detail: unknown }[]>`
    select detail from uptuple.result join uptuple.service on service.id = service_id where name = 'b'`;
  assert.deepEqual(plain.map((row) => row.detail), plain.map(() => null));
});

Deno.test("hostile bodies cost at most the check they belong to its verdict", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const bodies: Record<string, [body: string, status: string]> = {
    "nested 60,000 deep": ["[".repeat(60_000), "DOWN"],
    "nested 60,000 deep and closed": ["[".repeat(30_000) + "]".repeat(30_000), "DOWN"],
    "a number out of range": ['{"a": 1e400000}', "DOWN"],
    "a huge number": [`{"a": ${"9".repeat(60_000)}}`, "DOWN"],
    "an escape that cannot be text": ['{"a": "\\u0000"}', "DOWN"],
    "half a surrogate": ['{"a": "\\ud800"}', "DOWN"],
    "32,000 values": [`[${"1,".repeat(32_000)}1]`, "DOWN"],
    "32,000 names of one kind": [`{${'"a":1,'.repeat(10_000)}"a":2}`, "UP"],
    "no JSON at all": ["\u0001\u001b[31m" + "x".repeat(60_000), "DOWN"],
    "what a pattern likes least": ["ab".repeat(32_000), "DOWN"],
  };
  const assertions = [
    { json: "$.**.a", "<": 3 },
    { json: "$[*] ? (@ > 5)", exists: false },
    { body: { not_matches: "((a+)+)+$|(a|b)*a(a|b){200}c|(.*a.{100}){9}q" } },
  ];
  await owner`select uptuple.add_service(name => 'a', url => 'https://a/', assertions => ${owner.json(assertions)})`;
  await addService(owner, "good");
  const [first, second] = await claim(owner, 2);
  assert.ok(first && second);

  for (const [name, [body, status]] of Object.entries(bodies)) {
    await t.step(name, async () => {
      const { verdict } = await tryOut(owner, assertions, { status: 200, body });
      assert.equal(verdict?.outcome, status, verdict?.found);
      assert.ok((verdict?.found?.length ?? 0) <= 500);
    });
  }
  await t.step("in one batch with a good one", async () => {
    const bad = { status: 200, body: "[".repeat(60_000) };
    assert.deepEqual(
      await completeBatch(owner, [completion(first, bad), completion(second, { status: 200 })]),
      ["ACCEPTED", "ACCEPTED"],
    );
  });
  await assertNoViolations(owner);
});

Deno.test("an assertion that breaks makes its check INCONCLUSIVE with the reason, and the batch goes on", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "broken");
  await addService(owner, "good");
  // No function writes such an assertion; a release that knew another language might have.
  await owner`
    update uptuple.service_revision revision set config = revision.config || '{"assertions": [{"body": {"matches": "("}}, {"speed": 3}]}'
    from uptuple.service where service.id = revision.service_id and service.name = 'broken'`;
  const jobs = await claim(owner, 2);

  const outcomes = await completeBatch(owner, jobs.map((job) => completion(job, { status: 200, body: "x" })));

  assert.deepEqual(outcomes, ["ACCEPTED", "ACCEPTED"]);
  const results = await owner<Record<string, unknown>[]>`
    select service.name, result.status, result.code, result.reason
    from uptuple.result join uptuple.service on service.id = result.service_id order by service.name`;
  assert.deepEqual(results.map((row) => [row.name, row.status, row.code]), [
    ["broken", "INCONCLUSIVE", "assertion.error"],
    ["good", "UP", null],
  ]);
  assert.match(
    String(results[0]?.reason),
    /^body matches "\(": found an error: invalid regular expression: .*; .*found an error: an assertion looks at nothing that is known/,
  );
  await assertNoViolations(owner);
});

Deno.test("a check that is DOWN whatever a broken assertion says is DOWN", async () => {
  await using database = await emptiedDatabase();

  const [verdict] = await database.owner`
    select * from uptuple.evaluate_observation(
      '{"expected_statuses": "{[200,300)}", "read_body": true, "assertions": [{"body": {"matches": "("}}, {"body": {"contains": "ok"}}]}',
      '{"status": 200, "body": "no"}')`;

  assert.equal(verdict.status, "DOWN");
  assert.match(verdict.reason, /^body contains "ok": found it not in 2 characters; body matches "\(": found an error/);
});

Deno.test("a certificate that a runtime cannot see decides nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const assertions = [{ certificate_days: { ">=": 14 } }];
  const seen = await tryOut(owner, assertions, { status: 200, transport: "node" });
  const unseen = await tryOut(owner, assertions, { status: 200, transport: "fetch" });

  assert.equal(seen.verdict?.outcome, "DOWN");
  assert.deepEqual([unseen.rows[0]?.outcome, unseen.verdict?.outcome, unseen.verdict?.found], [
    "UNKNOWN",
    "INCONCLUSIVE",
    "certificate_days >= 14: found no certificate, since this runtime cannot see one",
  ]);
});

Deno.test("a DEGRADED check counts as up, and its reason says what is slow", async () => {
  await using database = await emptiedDatabase();

  const result = await checked(database.owner, [{ latency_ms: { "<": 800 } }], {
    status: 200,
    timings: { total: 812.4 },
  });

  assert.deepEqual([result.status, result.code, result.reason], [
    "DEGRADED",
    "assertion.latency",
    "latency_ms < 800: found 812.4",
  ]);
  const [state] = await database.owner`select status, success_streak, failure_streak from uptuple.service_state`;
  assert.deepEqual([state.success_streak, state.failure_streak], [1, 0]);
});

Deno.test("a check is judged by the assertions of the revision that the job was made with", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'a', url => 'https://a/', assertions => '[{"body": {"contains": "old"}}]')`;
  const job = await claimOne(owner);
  await owner`select uptuple.update_service('a', assertions => '[{"body": {"contains": "new"}}]')`;

  await complete(owner, job, { status: 200, body: "old" });

  const [result] = await owner`select status, revision from uptuple.result`;
  assert.deepEqual([result.status, result.revision], ["UP", 1]);
});
