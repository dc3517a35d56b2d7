import assert from "node:assert/strict";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { claim, type Claimed, createDemoFunctions } from "./demo_functions.ts";

/** A database with the demo functions and one task of each minute, and a run of it that was claimed. */
async function claimedRun(database: TestDatabase, call = "demo.note", kind = "FIXED_RATE"): Promise<Claimed> {
  await createDemoFunctions(database.owner);
  await database.owner`
    insert into uptuple.task (name, kind, interval_ms, function) values ('task', ${kind}, 60000, ${call})`;
  const run = await claim(database.owner);
  assert.ok(run);
  return run;
}

async function finish(
  sql: TestSql,
  run: Claimed,
  error: string | null = null,
  code: string | null = null,
): Promise<boolean> {
  const [row] = await sql`select uptuple.finish_task(${run.run_id}, ${run.token}, ${error}, ${code}) as taken`;
  return row.taken;
}

/** As if the lock of every run had run out. */
async function runOut(sql: TestSql): Promise<void> {
  await sql`update uptuple.task_run set lease_until = clock_timestamp() where state = 'RUNNING'`;
  await sql`update uptuple.lock set lock_until = clock_timestamp()`;
}

Deno.test("a run's record has its start, its end, its outcome and its trace id", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  await owner`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  assert.equal(await finish(owner, run), true);

  const viewer = await database.connect("uptuple_viewer");
  const [row] = await viewer`
    select task, state, cause, function, worker, value, error, trace_id,
      claimed_at <= started_at and started_at <= ended_at as ordered
    from uptuple.task_runs`;
  assert.deepEqual({ ...row }, {
    task: "task",
    state: "SUCCEEDED",
    cause: "SCHEDULE",
    function: "demo.note",
    worker: "tester",
    value: "noted",
    error: null,
    trace_id: run.trace_id,
    ordered: true,
  });
  assert.match(run.trace_id, /^[0-9a-f]{32}$/);
});

Deno.test("a function that fails leaves nothing behind but its error", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database, "demo.fail");
  await assert.rejects(owner`select uptuple.execute_task(${run.run_id}, ${run.token})`, { code: "P0042" });
  assert.equal(await finish(owner, run, "broken on purpose", "P0042"), true);

  const [row] = await owner`
    select state, error, error_code, started_at = claimed_at as started, ended_at > claimed_at as ended from uptuple.task_runs`;
  assert.deepEqual({ ...row }, {
    state: "FAILED",
    error: "broken on purpose",
    error_code: "P0042",
    started: true,
    ended: true,
  });
  const [log] = await owner`select count(*)::integer as lines from demo.log`;
  assert.equal(log.lines, 0);
});

Deno.test("a finished run gives its lock back", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  const [held] = await owner`select name, locked_by from uptuple.locks`;
  assert.deepEqual({ ...held }, { name: "task:task", locked_by: "tester" });
  await finish(owner, run, "not run");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.locks`], []);
});

Deno.test("an outcome that is reported twice is taken once, and answered alike", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  assert.equal(await finish(owner, run, "first"), true);
  assert.equal(await finish(owner, run, "second"), true);
  const [row] = await owner`select state, error from uptuple.task_runs`;
  assert.deepEqual({ ...row }, { state: "FAILED", error: "first" });
});

Deno.test("work that was committed counts, although its acknowledgement was lost", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  await owner`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  assert.equal(await finish(owner, run, "connection reset"), true);
  const [row] = await owner`select state, error, value from uptuple.task_runs`;
  assert.deepEqual({ ...row }, { state: "SUCCEEDED", error: null, value: "noted" });
});

Deno.test("a run that was not executed cannot have succeeded", async () => {
  await using database = await testDatabase();
  const run = await claimedRun(database);
  await assert.rejects(finish(database.owner, run), { code: "UT002", message: /was not executed/ });
});

Deno.test("a run is not finished with another token", async () => {
  await using database = await testDatabase();
  const run = await claimedRun(database);
  assert.equal(await finish(database.owner, { ...run, token: crypto.randomUUID() }, "x"), false);
  assert.equal(await finish(database.owner, { ...run, run_id: "999" }, "x"), false);
  const [row] = await database.owner`select state from uptuple.task_runs`;
  assert.equal(row.state, "RUNNING");
});

Deno.test("a run whose lock ran out is lost, and the next fire happens", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  await owner`update uptuple.task_mark set next_fire_at = clock_timestamp()`;
  assert.equal(await claim(owner), null);
  await runOut(owner);
  const next = await claim(owner, undefined, "heir");

  assert.ok(next && next.run_id !== run.run_id);
  const [lost] =
    await owner`select state, error, ended_at = lease_until as ended from uptuple.task_run where id = ${run.run_id}`;
  assert.deepEqual({ ...lost }, {
    state: "LOST",
    error: "tester did not report an outcome before the lock ran out",
    ended: true,
  });
  assert.equal(await finish(owner, run, "too late"), false);
  const [held] = await owner`select locked_by from uptuple.locks`;
  assert.equal(held.locked_by, "heir");
});

Deno.test("a run whose work was committed before its runtime vanished is not lost", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  await owner`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  await runOut(owner);
  await claim(owner);
  const [row] = await owner`
    select state, value, ended_at = executed_at as ended from uptuple.task_run where id = ${run.run_id}`;
  assert.deepEqual({ ...row }, { state: "SUCCEEDED", value: "noted", ended: true });
});

Deno.test("a fixed delay counts from the end of a lost run too", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database, "demo.note", "FIXED_DELAY");
  await runOut(owner);
  assert.equal(await claim(owner), null);
  const [mark] = await owner`
    select next_fire_at = lease_until + interval '1 minute' as right
    from uptuple.task_mark, uptuple.task_run where task_run.id = ${run.run_id}`;
  assert.equal(mark.right, true);
});

Deno.test("the view tasks shows the next fire, the last outcome, and since when and where a task is running", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const run = await claimedRun(database);
  const viewer = await database.connect("uptuple_viewer");
  const shown = async () => {
    const [row] = await viewer`
      select name, kind, schedule, next_fire_at > now() as ahead, last_outcome, last_error, running_since <= now() as running, running_on
      from uptuple.tasks`;
    return { ...row };
  };
  const always = { name: "task", kind: "FIXED_RATE", schedule: "60 s", ahead: true };
  assert.deepEqual(await shown(), {
    ...always,
    last_outcome: null,
    last_error: null,
    running: true,
    running_on: "tester",
  });
  await finish(owner, run, "broken");
  assert.deepEqual(await shown(), {
    ...always,
    last_outcome: "FAILED",
    last_error: "broken",
    running: null,
    running_on: null,
  });
});

Deno.test("old runs are deleted, the last one of each task and open ones stay", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    insert into uptuple.task_run (task, fire_at, cause, state, trace_id, ended_at)
    select task, now() - days * interval '1 day', 'SCHEDULE', 'SUCCEEDED', 'x', now() - days * interval '1 day'
    from unnest(array['busy', 'rare']) task, unnest(array[100, 50, 40, 1]) days
    where task = 'busy' or days > 40`;
  await owner`
    insert into uptuple.task_run (task, fire_at, cause, state, trace_id) values ('busy', now() - interval '90 days', 'REQUEST', 'REQUESTED', 'x')`;

  const [first] = await owner`select uptuple.prune_task_runs('30 days', 2) as deleted`;
  const [second] = await owner`select uptuple.prune_task_runs() as deleted`;
  assert.deepEqual([first.deleted, second.deleted], ["2", "2"]);
  const rows = await owner<{ left: string }[]>`
    select task || ' ' || round(extract(epoch from now() - fire_at) / 86400) as left from uptuple.task_run order by task, fire_at`;
  assert.deepEqual(rows.map(({ left }) => left), ["busy 90", "busy 1", "rare 50"]);
  await assert.rejects(owner`select uptuple.prune_task_runs('1 minute')`, { code: "22023" });
});

Deno.test("the task that ships is inserted once, stays as a person changed it, and does not come back when removed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const worker = await database.connect("uptuple_worker");
  await worker`select uptuple.ensure_builtin_tasks()`;
  await owner`update uptuple.task set cron = '@daily' where name = 'uptuple.prune_task_runs'`;
  await worker`select uptuple.ensure_builtin_tasks()`;
  const [kept] =
    await owner`select source, schedule, enabled from uptuple.tasks where name = 'uptuple.prune_task_runs'`;
  assert.deepEqual({ ...kept }, { source: "builtin", schedule: "@daily", enabled: true });

  await owner`select uptuple.run_task_now('uptuple.prune_task_runs')`;
  const run = await claim(worker);
  assert.ok(run);
  const [done] = await worker`select value from uptuple.execute_task(${run.run_id}, ${run.token})`;
  assert.equal(done.value, 0);

  await owner`select uptuple.remove_task('uptuple.prune_task_runs')`;
  await worker`select uptuple.ensure_builtin_tasks()`;
  assert.deepEqual([
    ...await owner<object[]>`select * from uptuple.tasks where source = 'builtin' and name like '%prune%'`,
  ], []);
});
