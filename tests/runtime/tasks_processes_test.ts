import assert from "node:assert/strict";
import { createDemoFunctions, withoutShippedTasks } from "../sql/tasks/demo_functions.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { until } from "../support/wait.ts";

/** One process that runs tasks. */
interface Runtime extends AsyncDisposable {
  pid: number;
  /** Kills it with SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
}

const program = new URL("tasks_runtime.ts", import.meta.url).pathname;

async function startRuntime(database: TestDatabase, worker: string, skewMs = 0): Promise<Runtime> {
  const url = await database.urlFor("uptuple_worker");
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", program, url, worker, String(skewMs)],
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  const end = async (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // It is gone already.
    }
    await child.status;
  };
  return { pid: child.pid, kill: () => end("SIGKILL"), [Symbol.asyncDispose]: () => end("SIGTERM") };
}

/** So many runtimes share a task of every second for a minute. */
async function shareForAMinute(count: number): Promise<void> {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await withoutShippedTasks(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, function, miss_policy)
    values ('every second', 'CRON', '* * * * * *', 'demo.note', 'all')`;
  const runtimes = await Promise.all(
    Array.from({ length: count }, (_, index) => startRuntime(database, `runtime ${index + 1}`)),
  );
  try {
    await until("a minute of fires is over", async () => {
      const [row] = await owner`
        select count(*) filter (where state = 'SUCCEEDED') > 60 and max(fire_at) - min(fire_at) >= interval '60 s' as over
        from uptuple.task_run`;
      return row.over;
    }, 120_000);
  } finally {
    await Promise.all(runtimes.map((runtime) => runtime[Symbol.asyncDispose]()));
  }

  const [record] = await owner`
    select count(*)::integer as fires, count(distinct fire_at)::integer as instants,
      extract(epoch from max(fire_at) - min(fire_at))::integer as seconds,
      array_agg(distinct state) as states, count(distinct worker)::integer as workers,
      (select count(*)::integer from demo.log) as executions
    from uptuple.task_run`;
  assert.deepEqual(record.states, ["SUCCEEDED"]);
  assert.equal(record.instants, record.fires, "each fire is there once");
  assert.equal(record.fires, record.seconds + 1, "none is missing");
  assert.equal(record.executions, record.fires, "each fire was executed once");
  assert.ok(record.workers >= 2, `${record.workers} of ${count} runtimes had a share`);
}

Deno.test("two runtimes, and five, run a task of every second for a minute: each fire once, none lost", async () => {
  await Promise.all([shareForAMinute(2), shareForAMinute(5)]);
});

Deno.test("a runtime that is killed inside a run loses it: the lock frees after at_most, and the next fire happens elsewhere", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await withoutShippedTasks(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, arguments, lock_at_most_ms)
    values ('long', 'FIXED_RATE', 5000, 'demo.sleep', '[60]', 4000)`;
  await using victim = await startRuntime(database, "victim");
  await until("the victim is inside the run", async () => {
    const [row] =
      await owner`select exists (select from pg_stat_activity where datname = current_database() and query like '%execute_task%' and wait_event = 'PgSleep') as inside`;
    return row.inside;
  });
  await owner`update uptuple.task set arguments = '[0]' where name = 'long'`;
  await victim.kill();
  await until("the server has noticed that nobody waits for the statement", async () => {
    const [row] =
      await owner`select not exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep') as cut`;
    return row.cut;
  }, 3000);
  const [held] = await owner`select locked_by, lock_until::text as until from uptuple.locks where name = 'task:long'`;
  assert.equal(held.locked_by, "victim");

  await using heir = await startRuntime(database, "heir");
  await until("the heir has run the next fire", async () => {
    const [row] = await owner`
      select exists (select from uptuple.task_runs where worker = 'heir' and state = 'SUCCEEDED') as done`;
    return row.done;
  });
  await heir[Symbol.asyncDispose]();

  const [lost] = await owner`select state, ended_at::text as ended from uptuple.task_runs where worker = 'victim'`;
  assert.deepEqual({ ...lost }, { state: "LOST", ended: held.until });
  const [next] = await owner`
    select min(claimed_at) >= ${held.until}::timestamptz as after, count(*)::integer as runs,
      (select count(*)::integer from demo.log) as committed
    from uptuple.task_runs where worker = 'heir' and state = 'SUCCEEDED'`;
  assert.equal(next.after, true);
  assert.equal(next.committed, next.runs, "nothing of the lost run was committed");
});

Deno.test("runtimes whose clocks are wrong by an hour either way run each fire once, at its time", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await withoutShippedTasks(owner);
  await owner`
    insert into uptuple.task (name, kind, cron, interval_ms, function, miss_policy) values
      ('cron', 'CRON', '* * * * * *', null, 'demo.note', 'all'),
      ('delay', 'FIXED_DELAY', null, 1000, 'demo.note', null)`;
  await using _slow = await startRuntime(database, "slow", -3_600_000);
  await using _fast = await startRuntime(database, "fast", 3_600_000);
  await until("both have had a share", async () => {
    const [row] = await owner`
      select count(distinct worker)::integer as workers, count(*)::integer as runs from uptuple.task_run where state = 'SUCCEEDED'`;
    return row.workers === 2 && row.runs > 10;
  });
  const [record] = await owner`
    select count(*) = extract(epoch from max(fire_at) - min(fire_at)) + 1 as complete,
      bool_and(claimed_at >= fire_at) as "notEarly", max(claimed_at - fire_at) < interval '10 s' as "notLate"
    from uptuple.task_run where task = 'cron'`;
  assert.deepEqual({ ...record }, { complete: true, notEarly: true, notLate: true });
  const [delays] = await owner`
    select bool_and(fire_at = ended + interval '1 s') as right
    from (select fire_at, lag(ended_at) over (order by fire_at) as ended from uptuple.task_run where task = 'delay') runs
    where ended is not null`;
  assert.equal(delays.right, true);
});
