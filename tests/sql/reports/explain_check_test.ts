import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addService, claimOne, complete, REFUSED } from "../../support/services.ts";

const ASSERTIONS = [{ json: "$.depth", "<": 3, name: "short queue" }, { latency_ms: { "<": 800 } }];

async function addAsserted(sql: TestSql): Promise<void> {
  await sql`select uptuple.add_service(name => 'inventory', url => 'https://a/', assertions => ${
    sql.json(ASSERTIONS)
  })`;
}

async function explain(sql: TestSql, call = "service => 'inventory'"): Promise<Record<string, unknown>[]> {
  return [...await sql.unsafe(`select * from uptuple.explain_check(${call})`)];
}

const outcomes = (rows: Record<string, unknown>[]): unknown[] =>
  rows.map((row) => [row.assertion, row.outcome, row.expected, row.found]);

Deno.test("a check that failed is explained by what each assertion found", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addAsserted(owner);
  const job = await claimOne(owner);
  await complete(owner, job, { status: 200, body: '{"depth": "10"}', timings: { total: 12 } });

  const rows = await explain(owner, job.job_id);

  assert.deepEqual(outcomes(rows), [
    ["expected_statuses", "PASS", "200-299", "200"],
    ["short queue", "FAIL", "< 3", '"10", a text'],
    ["latency_ms < 800", "PASS", "< 800", "12"],
  ]);
  for (const row of rows) {
    assert.deepEqual([row.job, row.name, row.revision, row.state, row.status, row.code, row.reason], [
      job.job_id,
      "inventory",
      1,
      "DONE",
      "DOWN",
      "assertion.json",
      'short queue: found "10", a text',
    ]);
  }
});

Deno.test("a check is explained by the revision it was made with, whatever was changed since", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addAsserted(owner);
  await complete(owner, await claimOne(owner), { status: 200, body: "{}", timings: { total: 12 } });
  await owner`select uptuple.update_service('inventory', assertions => '[{"status": 404}]', expected_statuses => '404')`;

  const rows = await explain(owner);

  assert.deepEqual(outcomes(rows), [
    ["expected_statuses", "PASS", "200-299", "200"],
    ["short queue", "MISSING", "< 3", "nothing at this path"],
    ["latency_ms < 800", "PASS", "< 800", "12"],
  ]);
});

Deno.test("of a check that was UP all assertions held, and what they found is not kept", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addAsserted(owner);
  await complete(owner, await claimOne(owner), { status: 200, body: '{"depth": 1}', timings: { total: 12 } });

  assert.deepEqual(outcomes(await explain(owner)), [
    ["expected_statuses", "PASS", "200-299", "200"],
    ["short queue", "PASS", "< 3", null],
    ["latency_ms < 800", "PASS", "< 800", null],
  ]);
});

Deno.test("without an answer nothing was judged, and the error says why", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addAsserted(owner);
  await complete(owner, await claimOne(owner), REFUSED);

  const rows = await explain(owner);

  assert.deepEqual(outcomes(rows), [["short queue", "NOT_JUDGED", "< 3", null], [
    "latency_ms < 800",
    "NOT_JUDGED",
    "< 800",
    null,
  ]]);
  assert.equal(rows[0]?.reason, "connection refused");
});

Deno.test("a check without assertions, and one that is not finished, are explained in one row", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const [waiting] = await explain(owner);
  assert.equal(waiting?.state, "READY");
  assert.match(String(waiting?.reason), /^it waits to be claimed/);

  const job = await claimOne(owner, "worker 7");
  assert.deepEqual((await explain(owner)).map((row) => [row.state, row.status, row.reason]), [
    ["RUNNING", null, "worker 7 makes it, attempt 1"],
  ]);
  await complete(owner, job, { status: 503 });
  assert.deepEqual((await explain(owner)).map((row) => [row.state, row.status, row.reason, row.outcome]), [
    ["DONE", "DOWN", "HTTP 503, expected 200-299", "FAIL"],
  ]);
  await owner`select uptuple.check_now('inventory')`;
  assert.equal((await explain(owner))[0]?.state, "DONE", "the last check with a result, not the one that waits");
});

Deno.test("explain_check asks for one job or one service, and names what it does not find", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  for (const call of ["", "1, 'inventory'"]) {
    await assert.rejects(explain(owner, call), { code: "22023", message: "explain_check needs a job or a service" });
  }
  await assert.rejects(explain(owner, "999"), { code: "UT001", message: "there is no job 999" });
  await assert.rejects(explain(owner, "service => 'nobody'"), {
    code: "UT001",
    message: "there is no service named 'nobody'",
  });
  const viewer = await database.connect("uptuple_viewer");
  assert.equal((await explain(viewer)).length, 1);
});
