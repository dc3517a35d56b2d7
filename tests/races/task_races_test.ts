import assert from "node:assert/strict";
import { claim, createDemoFunctions, runAll } from "../sql/tasks/demo_functions.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../support/database.ts";
import { until } from "../support/wait.ts";

/** Waits until a backend stands still at a lock that another holds. */
async function blocked(sql: TestSql, pid: number): Promise<void> {
  await until("one connection waits for the other", async () => {
    const [row] = await sql`select cardinality(pg_blocking_pids(${pid})) > 0 as waits`;
    return row.waits;
  });
}

async function backend(sql: TestSql): Promise<number> {
  const [row] = await sql`select pg_backend_pid() as pid`;
  return row.pid;
}

/** One task of each minute, which is due. */
async function dueTask(database: TestDatabase): Promise<void> {
  await createDemoFunctions(database.owner);
  await database.owner`
    insert into uptuple.task (name, kind, interval_ms, function, miss_policy)
    values ('t', 'FIXED_RATE', 60000, 'demo.note', 'all')`;
  await database.owner`select uptuple.reckon_tasks(clock_timestamp())`;
}

Deno.test("two ticks meet at a fire: the second neither waits nor gets it", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const first = await database.connect();
  const second = await database.connect();

  await first`begin`;
  const run = await claim(first);
  await second`set statement_timeout = 2000`;
  assert.equal(await claim(second), null);
  await first`commit`;
  assert.equal(await claim(second), null);
  assert.equal(run?.task, "t");
  const [runs] = await database.owner`select count(*)::integer as count from uptuple.task_run`;
  assert.equal(runs.count, 1);
});

Deno.test("a tick that is rolled back leaves the fire due", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const dying = await database.connect();
  await dying`begin`;
  const lost = await claim(dying);
  await dying`rollback`;
  const run = await claim(database.owner);
  assert.ok(lost && run);
  assert.equal(run.fire_at.getTime(), lost.fire_at.getTime());
});

Deno.test("a pause that meets a tick waits for it, the run goes on, and the next fire does not come", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const ticking = await database.connect();
  const pausing = await database.connect();
  const pid = await backend(pausing);

  await ticking`begin`;
  const run = await claim(ticking);
  assert.ok(run);
  const pause = pausing`select uptuple.pause_task('t') as paused`.execute();
  await blocked(database.owner, pid);
  await ticking`commit`;
  assert.equal((await pause)[0]?.paused, true);

  await ticking`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  await ticking`select uptuple.finish_task(${run.run_id}, ${run.token})`;
  const [state] = await database.owner`select state from uptuple.task_runs`;
  assert.equal(state.state, "SUCCEEDED");
  assert.equal(await claim(ticking, new Date(Date.now() + 3_600_000)), null);
});

Deno.test("a tick that meets a pause leaves the task alone", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const pausing = await database.connect();
  await pausing`begin`;
  await pausing`select uptuple.pause_task('t')`;
  assert.equal(await claim(database.owner), null);
  await pausing`commit`;
  assert.equal(await claim(database.owner), null);
});

Deno.test("two runtimes that apply the same file at once apply it once", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const first = await database.connect();
  const second = await database.connect();
  const pid = await backend(second);
  const document = JSON.stringify({
    version: 1,
    groups: [{ name: "g", tasks: [{ name: "t", kind: "CRON", cron: "@daily", function: "demo.note" }] }],
  });

  await first`begin`;
  const [applied] = await first`select outcome, added from uptuple.apply_tasks(${document}::text::jsonb)`;
  const waiting = second`select outcome, added from uptuple.apply_tasks(${document}::text::jsonb)`.execute();
  await blocked(database.owner, pid);
  await first`commit`;
  const [repeated] = await waiting;
  assert.deepEqual([{ ...applied }, { ...repeated }], [
    { outcome: "APPLIED", added: ["t"] },
    { outcome: "UNCHANGED", added: [] },
  ]);
});

Deno.test("two people who ask for the same run get one", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const first = await database.connect();
  const second = await database.connect();
  const pid = await backend(second);

  await first`begin`;
  const [asked] = await first`select uptuple.run_task_now('t') as run`;
  const waiting = second`select uptuple.run_task_now('t') as run`.execute();
  await blocked(database.owner, pid);
  await first`commit`;
  const [again] = await waiting;
  assert.equal(again?.run, asked.run);
});

Deno.test("an outcome that is being recorded when the lock runs out is not overtaken by the sweep", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const finishing = await database.connect();
  const run = await claim(finishing);
  assert.ok(run);
  await finishing`select uptuple.execute_task(${run.run_id}, ${run.token})`;

  await finishing`begin`;
  await finishing`select uptuple.finish_task(${run.run_id}, ${run.token})`;
  await database.owner`set statement_timeout = 2000`;
  await database.owner`select uptuple.end_lost_runs()`;
  await finishing`commit`;
  const [row] = await database.owner`select state, error from uptuple.task_runs`;
  assert.deepEqual({ ...row }, { state: "SUCCEEDED", error: null });
});

Deno.test("a run that is still executed when its lock runs out is not called lost, and not executed twice", async () => {
  await using database = await testDatabase();
  await dueTask(database);
  const executing = await database.connect();
  const other = await database.connect();
  const pid = await backend(other);
  const run = await claim(executing);
  assert.ok(run);
  await database.owner`update uptuple.task_run set lease_until = clock_timestamp() + interval '300 ms'`;

  await executing`begin`;
  await executing`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  const twice = other`select uptuple.execute_task(${run.run_id}, ${run.token})`.execute();
  const refused = assert.rejects(twice, { code: "UT002" });
  await blocked(database.owner, pid);
  await until("the lock has run out", async () => {
    const [row] = await database.owner`select lease_until < clock_timestamp() as out from uptuple.task_run`;
    return row.out;
  });
  await database.owner`select uptuple.end_lost_runs()`;
  const [during] = await database.owner`select state from uptuple.task_run`;
  assert.equal(during.state, "RUNNING");
  await executing`commit`;
  await refused;
  await database.owner`select uptuple.end_lost_runs()`;
  const [after] = await database.owner`select state from uptuple.task_run`;
  assert.equal(after.state, "SUCCEEDED");
});

Deno.test("eight connections that work through a minute of seven tasks run each fire once and never two of one lock", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, lock_name, miss_policy, miss_limit)
    select 'task ' || n, 'CRON', '*/' || n + 1 || ' * * * * *', 'demo.note',
      case when n < 4 then 'shared' end, 'all', 1000
    from generate_series(1, 7) n`;
  const [start] = await owner`
    update uptuple.task_mark set first_known_at = '2027-05-05T00:00:00Z' returning first_known_at as at`;
  const end = new Date(start.at.getTime() + 60_000);

  const connections = await Promise.all(Array.from({ length: 8 }, () => database.connect()));
  await Promise.all(connections.map(async (sql) => {
    // One that finds everything in other hands looks again, until nothing is due for anybody.
    for (;;) {
      await runAll(sql, end);
      const [due] = await sql`select count(*)::integer as tasks from uptuple.task_mark where next_fire_at <= ${end}`;
      if (due.tasks === 0) break;
    }
  }));

  const tasks = await owner<{ task: string; fires: number; states: string[] }[]>`
    select task, count(*)::integer as fires, array_agg(distinct state) as states from uptuple.task_run group by task order by task`;
  assert.deepEqual(tasks.map(({ fires }) => fires), [30, 20, 15, 12, 10, 9, 8]);
  assert.deepEqual(new Set(tasks.flatMap(({ states }) => states)), new Set(["SUCCEEDED"]));
  const overlaps = await owner<object[]>`
    select one.id, other.id
    from uptuple.task_run one
    join uptuple.task_run other on other.lock_name = one.lock_name and other.id > one.id
      and tstzrange(one.claimed_at, one.ended_at) && tstzrange(other.claimed_at, other.ended_at)`;
  assert.deepEqual([...overlaps], []);
});
