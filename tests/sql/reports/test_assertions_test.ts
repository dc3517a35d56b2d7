import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";

async function tryOut(sql: TestSql, config: unknown, observation: object): Promise<unknown[][]> {
  const rows = await sql<Record<string, unknown>[]>`
    select * from uptuple.test_assertions(${sql.json(config as never)}, ${sql.json(observation as never)})`;
  return rows.map((row) => [row.assertion, row.outcome, row.expected, row.found]);
}

Deno.test("assertions can be tried on an answer without a service", async () => {
  await using database = await emptiedDatabase();

  assert.deepEqual(
    await tryOut(database.owner, [{ json: "$.queue.depth", "<": 3 }], {
      status: 200,
      body: '{"queue": {"depth": 2.42}}',
    }),
    [
      ["expected_statuses", "PASS", "200-299", "200"],
      ["json $.queue.depth < 3", "PASS", "< 3", "2.42"],
      ["verdict", "UP", null, "HTTP 200"],
    ],
  );
});

Deno.test("a service's own assertions can be tried, and others in their place", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'inventory', url => 'https://a/', assertions => '[{"body": {"contains": "ok"}}]')`;

  assert.deepEqual(await tryOut(owner, { service: "inventory" }, { status: 200, body: "no" }), [
    ["expected_statuses", "PASS", "200-299", "200"],
    ['body contains "ok"', "FAIL", 'contains "ok"', "it not in 2 characters"],
    ["verdict", "DOWN", null, 'body contains "ok": found it not in 2 characters'],
  ]);
  assert.deepEqual(
    await tryOut(owner, { service: "inventory", expected_statuses: "404", assertions: [] }, { status: 404 }),
    [["expected_statuses", "PASS", "404", "404"], ["verdict", "UP", null, "HTTP 404"]],
  );
});

Deno.test("assertions of another kind of check are tried as that kind", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'mail', url => 'tcp://a:25', assertions => '[{"body": {"matches": "^220"}}]')`;

  assert.deepEqual(await tryOut(owner, { service: "mail" }, { connected: true, received: "554" }), [
    ['body matches "^220"', "FAIL", 'matches "^220"', "no match in 3 characters"],
    ["verdict", "DOWN", null, 'body matches "^220": found no match in 3 characters'],
  ]);
  await assert.rejects(tryOut(owner, { service: "mail", assertions: [{ status: 200 }] }, { connected: true }), {
    code: "22023",
    message: "assertion 1 looks at status, which this check does not have",
  });
});

Deno.test("what an error leaves unjudged says so", async () => {
  await using database = await emptiedDatabase();

  assert.deepEqual(
    await tryOut(database.owner, [{ body: { contains: "ok" } }], { error: { code: "dns", message: "no such host" } }),
    [
      ["expected_statuses", "MISSING", "200-299", null],
      ['body contains "ok"', "NOT_JUDGED", 'contains "ok"', null],
      ["verdict", "DOWN", null, "no such host"],
    ],
  );
});

Deno.test("what add_service would refuse is refused here too, and nothing is stored", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(tryOut(owner, [{ json: "$.a[", exists: true }], { status: 200 }), { code: "22023" });
  await assert.rejects(tryOut(owner, "nonsense", { status: 200 }), { code: "22023" });
  await assert.rejects(tryOut(owner, [], []), { code: "22023" });
  await assert.rejects(tryOut(owner, { service: "nobody" }, { status: 200 }), { code: "UT001" });
  await assert.rejects(tryOut(owner, [], {}), { code: "22023", message: /neither a numeric status nor an error/ });
  const [rows] = await owner`select count(*)::integer from uptuple.service_revision`;
  assert.equal(rows.count, 0);
});

Deno.test("a configuration that no check has is refused, one that is stored is tried as it is", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(tryOut(owner, { asertions: [{ status: 500 }] }, { status: 200 }), {
    code: "22023",
    message: "config has 'asertions', which no check has",
  });
  await owner`select uptuple.add_service(name => 'a', url => 'https://a/', assertions => '[{"body": {"contains": "ok"}}]')`;
  const [stored] = await owner`select config - 'expected_statuses' as config from uptuple.service_revision`;
  assert.deepEqual((await tryOut(owner, stored?.config, { status: 200, body: "ok" })).at(-1), [
    "verdict",
    "UP",
    null,
    "HTTP 200",
  ]);
});

Deno.test("everybody who may look judges as a check does", async () => {
  await using database = await emptiedDatabase();
  const config = JSON.stringify({
    expected_statuses: "{[200,300)}",
    read_body: true,
    assertions: [
      { header: "a", exists: true },
      { any: [{ status: 404 }, { body: { matches: "ok" } }] },
      { json: "$.a", "<": 3 },
      { latency_ms: { "<": 800 } },
      { certificate_days: { ">=": 14 } },
    ],
  });
  const observation = JSON.stringify({
    status: 200,
    headers: { a: "b" },
    body: '{"a": 1, "b": "ok"}',
    timings: { total: 5 },
    certificate: { not_after: "2999-01-01T00:00:00Z" },
  });

  for (const role of ["uptuple_viewer", "uptuple_operator", "uptuple_worker"] as const) {
    const sql = await database.connect(role);
    const [verdict] = await sql`
      select status, reason from uptuple.evaluate_observation(${config}::text::jsonb, ${observation}::text::jsonb)`;
    assert.deepEqual({ ...verdict }, { status: "UP", reason: "HTTP 200" }, role);
  }
});
