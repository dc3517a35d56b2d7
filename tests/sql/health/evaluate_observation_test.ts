import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";

/** The verdict on an observation of a service that expects 200-299 and 401. */
async function judge(sql: TestSql, observation: object): Promise<string[]> {
  const [verdict] = await sql`
    select * from uptuple.evaluate_observation('{"expected_statuses": "{[200,300),[401,402)}"}', ${
    sql.json({ ...observation })
  })`;
  return [verdict.status, verdict.code, verdict.reason];
}

Deno.test("an expected status is UP, any other is DOWN with what came and what was expected", async () => {
  await using database = await testDatabase();

  assert.deepEqual(await judge(database.owner, { status: 204 }), ["UP", null, "HTTP 204"]);
  assert.deepEqual(await judge(database.owner, { status: 401 }), ["UP", null, "HTTP 401"]);
  assert.deepEqual(
    await judge(database.owner, { status: 500 }),
    ["DOWN", "http.status", "HTTP 500, expected 200-299, 401"],
  );
  assert.deepEqual(
    await judge(database.owner, { status: 302 }),
    ["DOWN", "http.status", "HTTP 302, expected 200-299, 401"],
  );
});

Deno.test("an error is DOWN with its own code, also beside a status or without words", async () => {
  await using database = await testDatabase();

  assert.deepEqual(
    await judge(database.owner, { error: { code: "tls.expired", message: "certificate expired" } }),
    ["DOWN", "tls.expired", "certificate expired"],
  );
  assert.deepEqual(
    await judge(database.owner, { status: 200, error: { code: "timeout.body", message: "no end in 10 s" } }),
    ["DOWN", "timeout.body", "no end in 10 s"],
  );
  assert.deepEqual(await judge(database.owner, { error: { code: "dns" } }), ["DOWN", "dns", "dns"]);
  assert.deepEqual(await judge(database.owner, { error: { code: "dns", message: "" } }), ["DOWN", "dns", "dns"]);
});

Deno.test("a missing secret is INCONCLUSIVE, since nothing was sent", async () => {
  await using database = await testDatabase();

  assert.deepEqual(
    await judge(database.owner, { error: { code: "secret.missing", message: "UPTUPLE_SECRET_KEY is not set" } }),
    ["INCONCLUSIVE", "secret.missing", "UPTUPLE_SECRET_KEY is not set"],
  );
});

Deno.test("hostile text in an error is made safe and cut before it is stored", async () => {
  await using database = await testDatabase();
  const message = `\u0001bell\u0007 "quotes" 'and' \\ 🔥\u001b[31m` + "x".repeat(1_000_000);

  const [status, code, reason] = await judge(database.owner, { error: { code: "protocol", message } });

  assert.equal(status, "DOWN");
  assert.equal(code, "protocol");
  assert.equal(reason, (`\ufffdbell\ufffd "quotes" 'and' \\ 🔥\ufffd[31m` + "x".repeat(500)).slice(0, 501));
  assert.equal([...reason!].length, 500);
});

Deno.test("an observation that is neither an answer nor an error is refused with the cure", async () => {
  await using database = await testDatabase();
  const nonsense = [{}, { status: "200" }, { status: null }, { error: "dns" }, { error: { code: "DROP TABLE" } }, {
    error: {},
  }];

  for (const observation of nonsense) {
    await assert.rejects(judge(database.owner, observation), (error: Error & { code: string; hint: string }) => {
      assert.equal(error.code, "22023");
      assert.match(error.message, /neither a numeric status nor an error with a code/);
      assert.match(error.hint, /\{"status": 200\}/);
      return true;
    });
  }
});

Deno.test("a viewer may judge an observation, as a replay does", async () => {
  await using database = await testDatabase();
  const viewer = await database.connect("uptuple_viewer");

  assert.deepEqual(await judge(viewer, { status: 200 }), ["UP", null, "HTTP 200"]);
});
