import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  ANSWERED,
  assertNoViolations,
  claim,
  type ClaimedJob,
  complete,
  makeWindowDue,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

/** Windows of one service, oldest first, all running at once. */
async function runWindows(sql: TestSql, service: string, count: number): Promise<ClaimedJob[]> {
  const jobs: ClaimedJob[] = [];
  for (let window = 0; window < count; window++) {
    await makeWindowDue(sql, service);
    jobs.push(...await claim(sql, 10));
    await sql`update uptuple.job set due_at = due_at + interval '1 minute' where state = 'RUNNING'`;
  }
  assert.equal(jobs.length, count);
  return jobs;
}

async function orders(sql: TestSql): Promise<Record<string, unknown>[]> {
  return (await sql<Record<string, unknown>[]>`
    select status, applied_order from uptuple.result where purpose = 'GRID' order by scheduled_slot`).map((row) => ({
    ...row,
  }));
}

Deno.test("an old slot finishing late is stored and moves neither state nor streak", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const [old, fresh] = await runWindows(owner, "inventory", 2);
  assert.ok(old && fresh);
  await complete(owner, fresh, REFUSED);
  const before = await stateOf(owner, "inventory");

  assert.equal(await complete(owner, old, ANSWERED), true);

  assert.deepEqual(await stateOf(owner, "inventory"), before);
  assert.equal(before.failure_streak, 1);
  assert.deepEqual(await orders(owner), [{ status: "UP", applied_order: null }, {
    status: "DOWN",
    applied_order: "2",
  }]);
  await assertNoViolations(owner);
});

Deno.test("an old DOWN finishing after a recovery opens no incident", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  const [old, fresh] = await runWindows(owner, "inventory", 2);
  assert.ok(old && fresh);
  await complete(owner, fresh, ANSWERED);

  await complete(owner, old, REFUSED);

  assert.equal((await stateOf(owner, "inventory")).status, "UP");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.incident`], []);
});

Deno.test("an old UP finishing late does not end an incident", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 2 });
  const [old, second, third] = await runWindows(owner, "inventory", 3);
  assert.ok(old && second && third);
  await complete(owner, second, REFUSED);
  await complete(owner, third, REFUSED);

  await complete(owner, old, ANSWERED);

  assert.equal((await stateOf(owner, "inventory")).status, "DOWN");
  await assertNoViolations(owner);
});

Deno.test("an old result is not what the status shows as the last check", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const [old, fresh] = await runWindows(owner, "inventory", 2);
  assert.ok(old && fresh);
  await complete(owner, fresh, REFUSED);

  await complete(owner, old, ANSWERED);

  const [shown] = await owner`select checked_status, code from uptuple.status`;
  assert.deepEqual({ ...shown }, { checked_status: "DOWN", code: "connect.refused" });
});

Deno.test("windows that finish in any order leave the state at the newest", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const windows = await runWindows(owner, "inventory", 4);

  for (const index of [1, 3, 0, 2]) {
    await complete(owner, windows[index] as ClaimedJob, index === 3 ? ANSWERED : REFUSED);
  }

  assert.deepEqual(await orders(owner), [
    { status: "DOWN", applied_order: null },
    { status: "DOWN", applied_order: "2" },
    { status: "DOWN", applied_order: null },
    { status: "UP", applied_order: "3" },
  ]);
  const { status, failure_streak, last_slot } = await stateOf(owner, "inventory");
  assert.deepEqual([status, failure_streak, last_slot], ["UP", 0, windows[3]?.scheduled_slot]);
});
