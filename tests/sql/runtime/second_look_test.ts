import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  claimOne,
  complete,
  enqueue,
  letTimePass,
  makeWindowDue,
  REFUSED,
  type ServiceOptions,
  stateOf,
} from "../../support/services.ts";
import { checkBy, claimedBy, reportWorker } from "../../support/workers.ts";

/** A service that is up, and the runtimes that live. */
async function watched(sql: TestSql, workers: string[], options: ServiceOptions = {}): Promise<void> {
  await addCheckedService(sql, "shop", options);
  for (const worker of workers) await reportWorker(sql, worker);
}

async function status(sql: TestSql): Promise<string> {
  return (await stateOf(sql, "shop")).status as string;
}

Deno.test("with a threshold of one, the first DOWN waits for another runtime, and its DOWN opens the incident", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { failureThreshold: 1 });

  await checkBy(owner, "one", "shop", REFUSED);
  assert.equal(await status(owner), "UP");
  await checkBy(owner, "two", "shop", REFUSED);

  assert.equal(await status(owner), "DOWN");
  await assertNoViolations(owner);
});

Deno.test("if the second DOWN is of the same runtime, it opens the incident all the same: one extra check and no more", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { failureThreshold: 2 });

  await checkBy(owner, "one", "shop", REFUSED);
  await checkBy(owner, "one", "shop", REFUSED);
  assert.equal(await status(owner), "UP");
  await checkBy(owner, "one", "shop", REFUSED);

  assert.equal(await status(owner), "DOWN");
});

Deno.test("DOWNs of two runtimes open the incident at the threshold and not later", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two", "three"], { failureThreshold: 3 });

  for (const worker of ["one", "two"]) await checkBy(owner, worker, "shop", REFUSED);
  assert.equal(await status(owner), "UP");
  await checkBy(owner, "two", "shop", REFUSED);

  assert.equal(await status(owner), "DOWN");
});

Deno.test("an UP of another runtime ends the streak, and the next DOWN waits again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { failureThreshold: 1 });

  for (let round = 0; round < 3; round++) {
    await checkBy(owner, "one", "shop", REFUSED);
    await checkBy(owner, "two", "shop", ANSWERED);
    assert.equal(await status(owner), "UP");
  }

  assert.equal((await stateOf(owner, "shop")).failure_streak, 0);
});

for (
  const [what, alone] of [
    ["there is no other", async () => {}],
    ["the other is of another region", (sql) => reportWorker(sql, "two", { region: "elsewhere" })],
    ["the other does not probe", (sql) => reportWorker(sql, "two", { roles: ["deliver", "web"] })],
    ["the other has stopped", async (sql) => {
      await reportWorker(sql, "two");
      await sql`select uptuple.retire_worker('two')`;
    }],
    ["the other has not been heard of for long", async (sql) => {
      await reportWorker(sql, "two");
      await letTimePass(sql, 46);
      await reportWorker(sql, "one");
    }],
    ["the other is in quarantine", async (sql) => {
      await reportWorker(sql, "two", { unanswered: 3, canary: "connect.refused" });
    }],
  ] as [string, (sql: TestSql) => Promise<void>][]
) {
  Deno.test(`the DOWNs of one runtime are enough when ${what}`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    await watched(owner, ["one"], { failureThreshold: 2 });
    await alone(owner);

    for (let time = 0; time < 2; time++) await checkBy(owner, "one", "shop", REFUSED);

    assert.equal(await status(owner), "DOWN");
    const [marked] = await owner`select count(*)::integer as n from uptuple.job where avoid_worker is not null`;
    const [looks] = await owner`select count(*)::integer as n from uptuple.second_look`;
    assert.deepEqual([marked.n, looks.n], [0, 0]);
  });
}

Deno.test("a DOWN by hand waits for nobody", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { failureThreshold: 1 });

  await owner`select uptuple.record_health('shop', 'DOWN')`;

  assert.equal(await status(owner), "DOWN");
});

Deno.test("a gap of more than three intervals begins a streak of its own, which waits again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { failureThreshold: 1 });
  await checkBy(owner, "one", "shop", REFUSED);
  await letTimePass(owner, 200);
  for (const worker of ["one", "two"]) await reportWorker(owner, worker);

  await makeWindowDue(owner, "shop");
  await owner`update uptuple.job set avoid_worker = null`;
  const [job] = await claim(owner, 1, "default", "one");
  assert.ok(job);
  await complete(owner, job, REFUSED);

  assert.equal(await status(owner), "UP");
});

Deno.test("the confirmation of a DOWN is left to the other runtime, but for ten seconds and not longer", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop", { every: "1 day", confirmEvery: "30 seconds", failureThreshold: 1 });
  for (const worker of ["one", "two"]) await reportWorker(owner, worker);
  await complete(owner, await claimOne(owner, "one"), REFUSED);
  await letTimePass(owner, 31);

  const [before] =
    await owner`select uptuple.next_job_due('default', 'one') as one, uptuple.next_job_due('default', 'two') as two`;
  assert.deepEqual(await claimedBy(owner, "one"), []);
  assert.deepEqual({ ...before }, { one: null, two: 0 }, "nor is it kept awake by it");
  await letTimePass(owner, 10);

  const [after] = await owner`select uptuple.next_job_due('default', 'one') as one`;
  assert.equal(after.one, 0);
  assert.deepEqual(await claimedBy(owner, "one"), ["shop"]);
});

Deno.test("the next window of the grid is left to the other runtime for half an interval, if it was made before the DOWN or after", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { every: "10 seconds", failureThreshold: 5 });

  // Made before: the window waits already when the older one fails.
  await makeWindowDue(owner, "shop");
  const [early] = await claim(owner, 1, "default", "one");
  assert.ok(early);
  await makeWindowDue(owner, "shop");
  await complete(owner, early, REFUSED);
  assert.deepEqual(await claimedBy(owner, "one"), []);
  const [second] = await claim(owner, 1, "default", "two");
  assert.ok(second);

  // Made after.
  await complete(owner, second, REFUSED);
  await makeWindowDue(owner, "shop");
  assert.deepEqual(await claimedBy(owner, "two"), []);
  await letTimePass(owner, 5);
  assert.deepEqual(await claimedBy(owner, "two"), ["shop"]);
  assert.equal((await owner<object[]>`select from uptuple.second_look`).length, 0, "a second look is had once");
});

Deno.test("a window that is left to a runtime that has died is probed by the first one within its time", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["one", "two"], { every: "1 second" });
  await makeWindowDue(owner, "shop");
  const due = (since: string) =>
    owner`
      update uptuple.job set avoid_worker = 'one', due_at = clock_timestamp() - ${since}::interval
      where owner_token is null and finished_at is null`;

  await due("0 s");
  assert.deepEqual(await claimedBy(owner, "one"), []);
  await due("0.6 s");

  assert.deepEqual([...new Set(await claimedBy(owner, "one"))], ["shop"]);
});

Deno.test("a second look that nobody had is forgotten after two days", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, []);
  await owner`
    insert into uptuple.second_look
    values (0, 'default', 'one', clock_timestamp() - interval '49 hours'), (1, 'default', 'one', clock_timestamp())`;

  await enqueue(owner);

  assert.deepEqual([...await owner`select service_id from uptuple.second_look`].map((row) => row.service_id), ["1"]);
});

Deno.test("a check whose last attempt broke while its service fails is left to another runtime", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop", { every: "1 day", confirmEvery: "30 seconds" });
  for (const worker of ["one", "two"]) await reportWorker(owner, worker);
  await complete(owner, await claimOne(owner, "two"), REFUSED);
  await letTimePass(owner, 31);
  const job = await claimOne(owner, "one");
  await owner`update uptuple.job set attempts = 3 where id = ${job.job_id}`;

  await owner`select uptuple.retry_job(${job.job_id}, ${job.owner_token}, 'the runtime stalled')`;

  const waiting = await owner`select purpose, avoid_worker from uptuple.job where state = 'READY'`;
  assert.deepEqual(waiting.map((row) => ({ ...row })), [{ purpose: "CONFIRM", avoid_worker: "one" }]);
});
