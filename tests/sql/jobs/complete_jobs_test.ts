import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  type ClaimedJob,
  claimOne,
  completeBatch,
  completion,
  jobRow,
  makeWindowDue,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

/** What no verdict can be made of. */
const POISON = { timings: { total: 1 } };

/** Several windows of one service, oldest first, all claimed and running. */
async function claimWindows(owner: TestSql, service: string, count: number): Promise<ClaimedJob[]> {
  for (let window = 0; window < count; window++) await makeWindowDue(owner, service);
  await owner`update uptuple.job set state = 'READY', due_at = clock_timestamp(), error = null, finished_at = null where state = 'MISSED'`;
  const jobs = await claim(owner, 100);
  assert.equal(jobs.length, count);
  return jobs.sort((one, other) => Number(one.scheduled_slot) - Number(other.scheduled_slot));
}

Deno.test("a batch answers for each entry in its order", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b", "c"]) await addService(owner, name);
  const [first, second, third] = await claim(owner, 3);
  assert.ok(first && second && third);
  await completeBatch(owner, [completion(second, ANSWERED)]);

  assert.deepEqual(
    await completeBatch(owner, [
      completion(third, REFUSED),
      completion(second, ANSWERED),
      completion({ ...first, owner_token: crypto.randomUUID() }, ANSWERED),
      completion(first, ANSWERED),
    ]),
    ["ACCEPTED", "DUPLICATE", "REFUSED", "ACCEPTED"],
  );
  await assertNoViolations(owner);
});

Deno.test("a slot may be left out of an entry, and may come as a string or a number", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b", "c"]) await addService(owner, name);
  const [first, second, third] = await claim(owner, 3);
  assert.ok(first && second && third);

  const { scheduled_slot: _slot, ...withoutSlot } = completion(first, ANSWERED);
  assert.deepEqual(
    await completeBatch(owner, [
      withoutSlot,
      { ...completion(second, ANSWERED), job_id: Number(second.job_id), scheduled_slot: Number(second.scheduled_slot) },
      completion(third, ANSWERED),
    ]),
    ["ACCEPTED", "ACCEPTED", "ACCEPTED"],
  );
});

Deno.test("several windows of one service in one batch count one by one, in slot order and not in the batch's", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const windows = await claimWindows(owner, "inventory", 4);

  const shuffled = [2, 0, 3, 1].map((index) => completion(windows[index] as ClaimedJob, REFUSED));
  assert.deepEqual(await completeBatch(owner, shuffled), ["ACCEPTED", "ACCEPTED", "ACCEPTED", "ACCEPTED"]);

  const state = await stateOf(owner, "inventory");
  assert.deepEqual([state.status, state.failure_streak, state.applied_count], ["DOWN", 3, "5"]);
  const order = await owner<{ scheduled_slot: string }[]>`
    select scheduled_slot from uptuple.result where purpose = 'GRID' order by applied_order`;
  assert.deepEqual(order.map((row) => row.scheduled_slot), windows.map((job) => job.scheduled_slot));
  const [incident] =
    await owner`select opened_order, (select count(*)::integer from uptuple.incident) as incidents from uptuple.incident`;
  assert.deepEqual({ ...incident }, { opened_order: "4", incidents: 1 });
  await assertNoViolations(owner);
});

Deno.test("the same job twice in one batch is accepted once, by its first entry", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.deepEqual(
    await completeBatch(owner, [completion(job, REFUSED), completion(job, ANSWERED)]),
    ["ACCEPTED", "DUPLICATE"],
  );

  const results = await owner`select status from uptuple.result`;
  assert.deepEqual(results.map((row) => row?.status), ["DOWN"]);
  assert.deepEqual((await stateOf(owner, "inventory")).applied_count, "1");
});

Deno.test("an entry with the wrong slot is refused, and does not stand in the way of the right one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.deepEqual(
    await completeBatch(owner, [
      { ...completion(job, REFUSED), scheduled_slot: Number(job.scheduled_slot) - 60 },
      completion(job, ANSWERED),
    ]),
    ["REFUSED", "ACCEPTED"],
  );
});

Deno.test("one poisonous observation costs only itself", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (let n = 0; n < 9; n++) await addService(owner, `service ${n}`);
  const jobs = await claim(owner, 9);

  const outcomes = await completeBatch(
    owner,
    jobs.map((job, index) => completion(job, index === 4 ? POISON : ANSWERED)),
  );

  const rest = "ACCEPTED";
  assert.deepEqual(outcomes, [rest, rest, rest, rest, "BROKEN", rest, rest, rest, rest]);
  const poisoned = jobs[4] as ClaimedJob;
  const row = await jobRow(owner, poisoned.job_id);
  assert.equal(row.state, "READY");
  assert.equal(
    row.error,
    "the observation could not be stored: the observation has neither a numeric status nor an error with a code",
  );
  const [stored] = await owner`select count(*)::integer from uptuple.result`;
  assert.equal(stored.count, 8);
  await assertNoViolations(owner);
});

Deno.test("a job whose observation is poisonous three times ends FAILED with the error", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  for (const expected of ["READY", "READY", "FAILED"]) {
    await owner`update uptuple.job set due_at = clock_timestamp()`;
    const job = await claimOne(owner);
    assert.deepEqual(await completeBatch(owner, [completion(job, POISON)]), ["BROKEN"]);
    assert.equal((await jobRow(owner, job.job_id)).state, expected);
  }

  const [job] = await owner`select attempts, error from uptuple.job`;
  assert.equal(job.attempts, 3);
  assert.match(job.error, /^the observation could not be stored: /);
});

Deno.test("a poisoned batch leaves the windows of a service in slot order", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const [oldest, older, newer, newest] = await claimWindows(owner, "inventory", 4);
  assert.ok(oldest && older && newer && newest);

  assert.deepEqual(
    await completeBatch(owner, [
      completion(newest, REFUSED),
      completion(newer, REFUSED),
      completion(older, POISON),
      completion(oldest, REFUSED),
    ]),
    ["ACCEPTED", "ACCEPTED", "BROKEN", "ACCEPTED"],
  );

  const state = await stateOf(owner, "inventory");
  assert.deepEqual([state.status, state.failure_streak, state.last_slot], ["DOWN", 3, newest.scheduled_slot]);
  const [unapplied] = await owner`select count(*)::integer from uptuple.result where applied_order is null`;
  assert.equal(unapplied.count, 0);
});

Deno.test("entries that are no completions at all are refused, and cost nothing but themselves", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  const garbage = [
    7,
    null,
    "text",
    [],
    {},
    { job_id: "seven" },
    { job_id: 1e300 },
    { job_id: job.job_id, owner_token: "no uuid", observation: ANSWERED },
    { job_id: job.job_id, owner_token: null, observation: ANSWERED },
    { job_id: job.job_id, scheduled_slot: "soon", owner_token: crypto.randomUUID(), observation: ANSWERED },
    { job_id: { nested: true }, scheduled_slot: [1], owner_token: 5, observation: ANSWERED },
  ];
  assert.deepEqual(
    await completeBatch(owner, [...garbage, completion(job, ANSWERED)]),
    [...garbage.map(() => "REFUSED"), "ACCEPTED"],
  );
  assert.equal((await jobRow(owner, job.job_id)).state, "DONE");
});

Deno.test("an entry without an observation breaks its own attempt", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "a");
  await addService(owner, "b");
  const [first, second] = await claim(owner, 2);
  assert.ok(first && second);
  const { observation: _observation, ...without } = completion(first, ANSWERED);

  assert.deepEqual(await completeBatch(owner, [without, completion(second, ANSWERED)]), ["BROKEN", "ACCEPTED"]);

  assert.equal((await jobRow(owner, first.job_id)).state, "READY");
});

Deno.test("a poisoned entry that is also late is refused, not broken", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  const late = { ...job, owner_token: crypto.randomUUID() };
  assert.deepEqual(await completeBatch(owner, [completion(late, POISON)]), ["REFUSED"]);

  const row = await jobRow(owner, job.job_id);
  assert.deepEqual([row.state, row.error], ["RUNNING", null]);
});
