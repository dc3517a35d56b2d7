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
  openWindow,
  stateOf,
} from "../../support/services.ts";

async function stateOfSlot(sql: TestSql, slot: number): Promise<string> {
  const [job] = await sql`select state from uptuple.job where scheduled_slot = ${slot}`;
  return job.state;
}

Deno.test("a window that nobody claimed is MISSED when the next one is enqueued, and is not probed late", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const slot = Number(await makeWindowDue(owner, "inventory"));

  await letTimePass(owner, 31);
  await enqueue(owner);

  assert.equal(await stateOfSlot(owner, slot - 31), "MISSED");
  const job = await claimOne(owner);
  assert.equal(Number(job.scheduled_slot), slot - 1, "only the present window is probed");
  await assertNoViolations(owner);
});

Deno.test("a window that nobody claimed cannot be claimed after its successor was due, even if nobody enqueues", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");

  await letTimePass(owner, 31);

  assert.deepEqual(await claim(owner), []);
});

Deno.test("a MISSED window is a gap: it neither breaks nor extends a streak", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const before = await stateOf(owner, "inventory");
  await makeWindowDue(owner, "inventory");

  await letTimePass(owner, 31);
  await enqueue(owner);

  const { last_slot: _before, ...rest } = before;
  const { last_slot: _after, ...now } = await stateOf(owner, "inventory");
  assert.deepEqual(now, rest);
  const [results] = await owner`select count(*)::integer from uptuple.result where purpose = 'GRID'`;
  assert.equal(results.count, 0);
});

Deno.test("a window that was claimed runs on to its end although the next one was enqueued", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "20 seconds" });
  const slot = Number(await makeWindowDue(owner, "inventory"));
  const job = await claimOne(owner);

  await letTimePass(owner, 21);
  await enqueue(owner);

  assert.equal(await stateOfSlot(owner, slot - 21), "RUNNING");
  assert.equal(await complete(owner, job, ANSWERED), true);
});

Deno.test("a window whose attempt broke is tried again although the next one was enqueued", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "10 seconds" });
  await makeWindowDue(owner, "inventory");
  const broken = await claimOne(owner);
  await owner`select uptuple.retry_job(${broken.job_id}, ${broken.owner_token}, 'stalled')`;

  await letTimePass(owner, 12);
  await enqueue(owner);

  const claimed = await claim(owner, 10);
  assert.ok(claimed.some((job) => job.job_id === broken.job_id && job.attempt === 2));
});

Deno.test("checks outside the grid are never MISSED", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "first", { every: "10 seconds" });
  await addService(owner, "asked", { every: "1 day" });
  await letTimePass(owner, 5);
  await owner`select uptuple.check_now('asked')`;

  await letTimePass(owner, 3600);
  await enqueue(owner);
  await owner`select uptuple.end_jobs()`;

  const rows = await owner<{ purpose: string; state: string }[]>`
    select purpose, state from uptuple.job where purpose <> 'GRID' order by id`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { purpose: "FIRST", state: "READY" },
    { purpose: "FIRST", state: "READY" },
    { purpose: "REQUEST", state: "READY" },
  ]);
});

Deno.test("an outage leaves one MISSED window behind, the one that was made before it, and no rows for the time after", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");

  await letTimePass(owner, 5 * 3600);
  await openWindow(owner, "inventory");
  await enqueue(owner);

  const rows = await owner<{ state: string; jobs: number }[]>`
    select state, count(*)::integer as jobs from uptuple.job where purpose = 'GRID' group by state order by state`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ state: "MISSED", jobs: 1 }, { state: "READY", jobs: 1 }]);
});

Deno.test("end_jobs answers how many it ended", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const endJobs = async () => (await owner`select uptuple.end_jobs() as ended`)[0].ended;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  assert.equal(await endJobs(), 0);

  await letTimePass(owner, 31);

  assert.equal(await endJobs(), 1);
  assert.equal(await endJobs(), 0);
});

Deno.test("overdue tells whether a job has been due and unclaimed for longer than asked", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const overdue = async (than: string) => (await owner`select uptuple.overdue(${than}) as yes`)[0].yes;
  assert.equal(await overdue("0 seconds"), false);

  await addService(owner, "inventory");
  await letTimePass(owner, 10);
  assert.deepEqual([await overdue("5 seconds"), await overdue("20 seconds")], [true, false]);

  await claimOne(owner);
  assert.equal(await overdue("0 seconds"), false, "a lease that runs is not overdue");
  await letTimePass(owner, 36);
  assert.deepEqual([await overdue("5 seconds"), await overdue("20 seconds")], [true, false]);
});
