import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { claim, createDemoFunctions, fires, knownSince, runAll } from "./demo_functions.ts";

const START = "2027-01-10T12:00:00Z";
/** So many minutes, and seconds, after the start. */
function at(minutes: number, seconds = 0): Date {
  return new Date(Date.parse(START) + minutes * 60_000 + seconds * 1000);
}

Deno.test("a cron task fires at its instants, each once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, cron, function) values ('hourly', 'CRON', '15 * * * *', 'demo.note')`;
  await knownSince(owner, "hourly", START);

  assert.equal(await claim(owner, at(14, 59)), null);
  const [first] = await runAll(owner, at(15));
  assert.equal(first?.fire_at.toISOString(), "2027-01-10T12:15:00.000Z");
  assert.equal(await claim(owner, at(15, 1)), null);
  assert.equal(await claim(owner, at(74, 59)), null);
  await runAll(owner, at(76));
  assert.deepEqual(await fires(owner, "hourly"), ["01-10 12:15:00 SUCCEEDED", "01-10 13:15:00 SUCCEEDED"]);
});

Deno.test("a fixed rate fires when it is first known, and then on its grid, which lateness does not shift", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, miss_policy)
    values ('grid', 'FIXED_RATE', 600000, 'demo.note', 'all')`;
  await knownSince(owner, "grid", START);

  await runAll(owner, at(0));
  assert.equal(await claim(owner, at(9)), null);
  await runAll(owner, at(13));
  await runAll(owner, at(20));
  await runAll(owner, at(34));
  assert.deepEqual(await fires(owner, "grid"), [
    "01-10 12:00:00 SUCCEEDED",
    "01-10 12:10:00 SUCCEEDED",
    "01-10 12:20:00 SUCCEEDED",
    "01-10 12:30:00 SUCCEEDED",
  ]);
});

Deno.test("a fixed rate does not burst after an outage, and keeps its grid", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, interval_ms, function) values ('grid', 'FIXED_RATE', 600000, 'demo.note')`;
  await knownSince(owner, "grid", START);

  await runAll(owner, at(0));
  await runAll(owner, at(47));
  await runAll(owner, at(50));
  assert.deepEqual(await fires(owner, "grid"), [
    "01-10 12:00:00 SUCCEEDED",
    "01-10 12:10:00 SKIPPED",
    "01-10 12:20:00 SKIPPED",
    "01-10 12:30:00 SKIPPED",
    "01-10 12:40:00 SUCCEEDED",
    "01-10 12:50:00 SUCCEEDED",
  ]);
});

Deno.test("a fixed delay counts from the end of the last run, wherever it ran", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, interval_ms, function) values ('delay', 'FIXED_DELAY', 600000, 'demo.note')`;
  const elsewhere = await database.connect();

  const run = await claim(owner);
  assert.ok(run);
  assert.equal(await claim(elsewhere, undefined, "another"), null);
  await owner`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  await owner`select uptuple.finish_task(${run.run_id}, ${run.token})`;
  const [mark] = await owner`
    select next_fire_at = ended_at + interval '10 minutes' as right, next_fire_at
    from uptuple.task_mark, uptuple.task_run where task_run.task = 'delay' and task_mark.task = 'delay'`;
  assert.equal(mark.right, true);

  assert.equal(await claim(elsewhere, new Date(mark.next_fire_at.getTime() - 1000), "another"), null);
  const next = await claim(elsewhere, new Date(mark.next_fire_at.getTime() + 90 * 60_000), "another");
  assert.equal(next?.fire_at.getTime(), mark.next_fire_at.getTime(), "late, and neither missed nor skipped");
});

Deno.test("the initial delay counts from when the task was first known", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, interval_ms, initial_delay_ms, function) values
      ('rate', 'FIXED_RATE', null, 600000, 1800000, 'demo.note'),
      ('delay', 'FIXED_DELAY', null, 600000, 1800000, 'demo.note'),
      ('cron', 'CRON', '*/20 * * * *', null, 1800000, 'demo.note')`;
  for (const task of ["rate", "delay", "cron"]) await knownSince(owner, task, START);

  assert.equal(await claim(owner, at(29)), null);
  const due = [await claim(owner, at(30)), await claim(owner, at(30)), await claim(owner, at(30))];
  assert.deepEqual(due.map((run) => run && `${run.task} ${run.fire_at.toISOString().slice(11, 16)}`), [
    "delay 12:30",
    "rate 12:30",
    null,
  ]);
  assert.equal((await claim(owner, at(40)))?.task, "cron");
});

Deno.test("a task whose lock is held stays due, and another task does not wait for it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, lock_name) values
      ('a', 'FIXED_RATE', 600000, 'demo.note', 'shared'),
      ('b', 'FIXED_RATE', 600000, 'demo.note', 'shared'),
      ('c', 'FIXED_RATE', 600000, 'demo.note', null)`;

  const first = await claim(owner);
  const second = await claim(owner);
  assert.deepEqual([first?.task, second?.task], ["a", "c"]);
  assert.equal(await claim(owner), null);
  assert.ok(first);
  await owner`select uptuple.finish_task(${first.run_id}, ${first.token}, 'not needed')`;
  assert.equal((await claim(owner))?.task, "b");
});

Deno.test("lock_at_least keeps the next run off although the first was quick", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, lock_at_least_ms)
    values ('calm', 'FIXED_DELAY', 1000, 'demo.note', 300000)`;
  await runAll(owner);
  await owner`update uptuple.task_mark set next_fire_at = clock_timestamp()`;
  assert.equal(await claim(owner), null);
  await owner`update uptuple.lock set locked_at = locked_at - interval '5 minutes', lock_until = clock_timestamp()`;
  assert.equal((await claim(owner))?.task, "calm");
});

Deno.test("what is due while a run goes on waits, and is dealt with by the miss policy when it has ended", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, miss_policy)
    values ('slow', 'FIXED_RATE', 600000, 'demo.note', 'all')`;
  await knownSince(owner, "slow", START);
  const run = await claim(owner, at(0));
  assert.ok(run);
  assert.equal(await claim(owner, at(25)), null);
  await owner`select uptuple.finish_task(${run.run_id}, ${run.token}, 'cut')`;
  await runAll(owner, at(25));
  assert.deepEqual(await fires(owner, "slow"), [
    "01-10 12:00:00 FAILED",
    "01-10 12:10:00 SUCCEEDED",
    "01-10 12:20:00 SUCCEEDED",
  ]);
});

Deno.test("miss policy skip runs the last fire if it is hardly late, and else none", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, miss_policy)
    values ('timely', 'CRON', '*/10 * * * *', 'demo.note', 'skip')`;
  await knownSince(owner, "timely", START);

  await runAll(owner, at(10, 59));
  await runAll(owner, at(31, 1));
  await runAll(owner, at(50, 30));
  assert.deepEqual(await fires(owner, "timely"), [
    "01-10 12:10:00 SUCCEEDED",
    "01-10 12:20:00 SKIPPED",
    "01-10 12:30:00 SKIPPED",
    "01-10 12:40:00 SKIPPED",
    "01-10 12:50:00 SUCCEEDED",
  ]);
});

Deno.test("miss policy once runs the last of the fires that were missed, and a skipped one says what ran instead", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, cron, function) values ('late', 'CRON', '0 3 * * *', 'demo.note')`;
  await knownSince(owner, "late", START);

  await runAll(owner, at(4 * 24 * 60));
  assert.deepEqual(await fires(owner, "late"), [
    "01-11 03:00:00 SKIPPED",
    "01-12 03:00:00 SKIPPED",
    "01-13 03:00:00 SKIPPED",
    "01-14 03:00:00 SUCCEEDED",
  ]);
  const [skipped] = await owner`select reason, cause from uptuple.task_runs where state = 'SKIPPED' limit 1`;
  assert.deepEqual({ ...skipped }, { reason: "coalesced into the fire at 2027-01-14T03:00:00Z", cause: "SCHEDULE" });
});

Deno.test("miss policy once runs nothing that is older than its bound", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, miss_within_ms)
    values ('bound', 'CRON', '0 3 * * *', 'demo.note', 3600000)`;
  await knownSince(owner, "bound", START);

  assert.equal(await claim(owner, at(24 * 60)), null);
  assert.deepEqual(await fires(owner, "bound"), ["01-11 03:00:00 SKIPPED"]);
  const [skipped] = await owner`select reason from uptuple.task_runs`;
  assert.equal(skipped.reason, "nobody could run it in time");
  await runAll(owner, "2027-01-12T03:30:00Z");
  assert.deepEqual(await fires(owner, "bound"), ["01-11 03:00:00 SKIPPED", "01-12 03:00:00 SUCCEEDED"]);
});

Deno.test("miss policy all runs each missed fire in order, the last miss_limit of them, none older than its bound", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, miss_policy, miss_limit, miss_within_ms) values
      ('capped', 'CRON', '*/10 * * * *', 'demo.note', 'all', 3, 86400000),
      ('bounded', 'CRON', '*/10 * * * *', 'demo.note', 'all', 100, 1500000)`;
  for (const task of ["capped", "bounded"]) await knownSince(owner, task, START);

  await runAll(owner, at(61));
  assert.deepEqual(await fires(owner, "capped"), [
    "01-10 12:10:00 SKIPPED",
    "01-10 12:20:00 SKIPPED",
    "01-10 12:30:00 SKIPPED",
    "01-10 12:40:00 SUCCEEDED",
    "01-10 12:50:00 SUCCEEDED",
    "01-10 13:00:00 SUCCEEDED",
  ]);
  assert.deepEqual(await fires(owner, "bounded"), [
    "01-10 12:10:00 SKIPPED",
    "01-10 12:20:00 SKIPPED",
    "01-10 12:30:00 SKIPPED",
    "01-10 12:40:00 SUCCEEDED",
    "01-10 12:50:00 SUCCEEDED",
    "01-10 13:00:00 SUCCEEDED",
  ]);
});

Deno.test("a year of missed seconds is one row and as many runs as the policy has", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, interval_ms, function, miss_policy, miss_limit) values
      ('cron', 'CRON', '* * * * * *', null, 'demo.note', 'all', 5),
      ('rate', 'FIXED_RATE', null, 1000, 'demo.note', 'once', null)`;
  for (const task of ["cron", "rate"]) await knownSince(owner, task, START);

  await runAll(owner, at(365 * 24 * 60));
  const rows = await owner<Record<string, unknown>[]>`
    select task, state, count(*)::integer, min(fire_at) as first, max(fire_at) as last, max(skipped_until) as until
    from uptuple.task_run group by task, state order by task, state`;
  const year = (seconds: number) => new Date(at(365 * 24 * 60).getTime() + seconds * 1000);
  assert.deepEqual(rows.map((row) => ({ ...row, until: undefined })), [
    { task: "cron", state: "SKIPPED", count: 1, first: at(0, 1), last: at(0, 1), until: undefined },
    { task: "cron", state: "SUCCEEDED", count: 5, first: year(-4), last: year(0), until: undefined },
    { task: "rate", state: "SKIPPED", count: 1, first: at(0), last: at(0), until: undefined },
    { task: "rate", state: "SUCCEEDED", count: 1, first: year(0), last: year(0), until: undefined },
  ]);
  for (const row of rows.filter(({ state }) => state === "SKIPPED")) {
    const until = row.until as Date;
    assert.ok(until >= year(-6) && until < year(0), until.toISOString());
  }
});

Deno.test("a changed schedule counts from the change, and nothing of the old one is made up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, cron, function) values ('edited', 'CRON', '0 * * * *', 'demo.note')`;
  await knownSince(owner, "edited", START);
  await runAll(owner, at(60));
  await owner`update uptuple.task set cron = '*/5 * * * *' where name = 'edited'`;
  assert.equal(await claim(owner, at(63)), null);
  await runAll(owner, at(65));
  assert.deepEqual(await fires(owner, "edited"), ["01-10 13:00:00 SUCCEEDED", "01-10 13:05:00 SUCCEEDED"]);
});

Deno.test("a paused task does not fire, and nothing of the pause is made up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, miss_policy)
    values ('paused', 'CRON', '*/10 * * * *', 'demo.note', 'all')`;
  await knownSince(owner, "paused", START);
  await runAll(owner, at(10));

  const [paused] = await operator`select uptuple.pause_task('paused') as first, uptuple.pause_task('paused') as again`;
  assert.deepEqual({ ...paused }, { first: true, again: false });
  assert.equal(await claim(owner, at(35)), null);
  const [shown] =
    await operator`select paused_at is not null as paused, next_fire_at from uptuple.tasks where name = 'paused'`;
  assert.deepEqual({ ...shown }, { paused: true, next_fire_at: null });

  const [resumed] =
    await operator`select uptuple.resume_task('paused') as first, uptuple.resume_task('paused') as again`;
  assert.deepEqual({ ...resumed }, { first: true, again: false });
  assert.equal(await claim(owner, at(36)), null);
  await runAll(owner, at(41));
  assert.deepEqual(await fires(owner, "paused"), ["01-10 12:10:00 SUCCEEDED", "01-10 12:40:00 SUCCEEDED"]);
});

Deno.test("a disabled task does not fire, and fires from when it is enabled", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, enabled)
    values ('off', 'FIXED_RATE', 600000, 'demo.note', false)`;
  await knownSince(owner, "off", START);
  assert.equal(await claim(owner, at(15)), null);
  await owner`update uptuple.task set enabled = true where name = 'off'`;
  assert.equal(await claim(owner, at(16)), null);
  await runAll(owner, at(20));
  assert.deepEqual(await fires(owner, "off"), ["01-10 12:20:00 SUCCEEDED"]);
});

Deno.test("run_task_now runs a task beside its schedule, also a paused or a disabled one, and once for two requests", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, enabled) values
      ('yearly', 'CRON', '@yearly', 'demo.note', true), ('off', 'CRON', '@yearly', 'demo.note', false)`;
  await owner`select uptuple.pause_task('yearly')`;

  const [asked] = await operator`
    select uptuple.run_task_now('yearly') as yearly, uptuple.run_task_now('yearly') as again, uptuple.run_task_now('off') as off`;
  assert.equal(asked.yearly, asked.again);
  assert.deepEqual((await runAll(owner)).map(({ run_id, task }) => [run_id, task]), [
    [asked.yearly, "yearly"],
    [asked.off, "off"],
  ]);
  const [run] =
    await operator`select state, cause, requested_by, value from uptuple.task_runs where run_id = ${asked.yearly}`;
  assert.deepEqual({ ...run }, {
    state: "SUCCEEDED",
    cause: "REQUEST",
    requested_by: "uptuple_test_operator",
    value: "noted",
  });
  const [later] = await operator`select uptuple.run_task_now('yearly') as run`;
  assert.notEqual(later.run, asked.yearly);
});

Deno.test("a request waits for the lock, and one for a task that was removed meanwhile is skipped", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, cron, function) values ('asked', 'CRON', '@yearly', 'demo.note')`;
  await owner`select uptuple.run_task_now('asked')`;
  const [lock] = await owner`select uptuple.acquire_lock('task:asked', '1 minute') as token`;
  assert.equal(await claim(owner), null);
  await owner`select uptuple.release_lock('task:asked', ${lock.token})`;
  await owner`select uptuple.remove_task('asked')`;
  assert.equal(await claim(owner), null);
  const [run] = await owner`select state, reason from uptuple.task_runs`;
  assert.deepEqual({ ...run }, { state: "SKIPPED", reason: "the task was removed" });
});

Deno.test("pausing, resuming, running and removing a task that is not there is an error of its own", async () => {
  await using database = await testDatabase();
  for (const verb of ["pause_task", "resume_task", "run_task_now", "remove_task"]) {
    await assert.rejects(database.owner.unsafe(`select uptuple.${verb}('nobody')`), {
      code: "UT001",
      message: "there is no task named 'nobody'",
    });
  }
});

Deno.test("next_task_due says how long nothing is due, by the database's clock", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const worker = await database.connect("uptuple_worker");
  await createDemoFunctions(owner);
  const due = async () => (await worker`select uptuple.next_task_due() as ms`)[0].ms;
  assert.equal(await due(), null);

  await owner`insert into uptuple.task (name, kind, interval_ms, function) values ('t', 'FIXED_DELAY', 600000, 'demo.note')`;
  assert.equal(await due(), 0);
  const run = await claim(worker);
  assert.ok(run);
  assert.equal(await due(), null, "its lock is held");
  await owner`select uptuple.finish_task(${run.run_id}, ${run.token}, 'done')`;
  const ms = await due();
  assert.ok(ms > 590_000 && ms <= 600_000, String(ms));
});

Deno.test("a claim needs a worker's name, and the time to go by is nobody's to give", async () => {
  await using database = await testDatabase();
  const worker = await database.connect("uptuple_worker");
  await assert.rejects(worker`select uptuple.claim_task('')`, /worker is ''/);
  await assert.rejects(
    worker`select uptuple.claim_task_at('w', now())`,
    /permission denied for function claim_task_at/,
  );
});
