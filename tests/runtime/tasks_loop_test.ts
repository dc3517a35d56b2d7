import { configure, type LogRecord, reset } from "@logtape/logtape";
import assert from "node:assert/strict";
import { connect } from "../../src/database/connect.ts";
import { createShift } from "../../src/shift.ts";
import { createTaskLoop } from "../../src/tasks/task_loop.ts";
import { createDemoFunctions, withoutShippedTasks } from "../sql/tasks/demo_functions.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { until } from "../support/wait.ts";

/** A loop at work in this process. */
interface Working extends AsyncDisposable {
  /** Ends the shift, and resolves when the loop has ended. */
  stop(): Promise<void>;
}

async function startLoop(test: TestDatabase, tasksFile: string | null = null): Promise<Working> {
  const url = await test.urlFor("uptuple_worker");
  const database = connect({ url });
  const shift = createShift();
  shift.extend(10 * 60_000);
  const variables: Record<string, string> = { LINE: "from the environment", UPTUPLE_SECRET_X: "hidden" };
  const tasks = createTaskLoop({ database, url, worker: "here", tasksFile, variable: (name) => variables[name] });
  await database.listen("uptuple_tasks", tasks.wake, tasks.wake);
  const working = tasks.run(shift);
  const stop = async () => {
    shift.stop();
    await working;
    await database.close();
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

/** Waits for a run of a task to end, and gives its record. */
async function ended(test: TestDatabase, task: string): Promise<Record<string, unknown>> {
  return await until(`a run of ${task} has ended`, async () => {
    const [row] = await test.owner<Record<string, unknown>[]>`
      select *, extract(epoch from took)::float8 as seconds from uptuple.task_runs
      where task = ${task} and ended_at is not null and state <> 'SKIPPED' order by run_id limit 1`;
    return row;
  });
}

/** Collects what is logged while a test goes on. */
async function collectLog(): Promise<AsyncDisposable & { records: LogRecord[] }> {
  const records: LogRecord[] = [];
  await configure({
    reset: true,
    sinks: { memory: (record) => records.push(record) },
    loggers: [
      { category: "uptuple", sinks: ["memory"], lowestLevel: "debug" },
      { category: ["logtape", "meta"], sinks: [] },
    ],
  });
  return { records, [Symbol.asyncDispose]: () => reset() };
}

function text(record: LogRecord): string {
  return record.message.map((part) => typeof part === "string" ? part : JSON.stringify(part) ?? String(part)).join("");
}

Deno.test("a due task is run on a connection of its own, and its record is complete", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test
    .owner`insert into uptuple.task (name, kind, interval_ms, function) values ('t', 'FIXED_RATE', 3600000, 'demo.note')`;
  await using _loop = await startLoop(test);
  const run = await ended(test, "t");
  assert.deepEqual([run.state, run.value, run.worker, run.error], ["SUCCEEDED", "noted", "here", null]);
});

Deno.test("a task that fails is recorded with its error and its code, and does not stop others", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner`
    insert into uptuple.task (name, kind, interval_ms, function) values
      ('a', 'FIXED_RATE', 3600000, 'demo.fail'), ('b', 'FIXED_RATE', 3600000, 'demo.note')`;
  await using _loop = await startLoop(test);
  const failed = await ended(test, "a");
  assert.deepEqual([failed.state, failed.error, failed.error_code], ["FAILED", "broken on purpose", "P0042"]);
  assert.equal((await ended(test, "b")).state, "SUCCEEDED");
});

Deno.test("a slow task does not delay others", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner`
    insert into uptuple.task (name, kind, interval_ms, function, arguments) values
      ('slow', 'FIXED_RATE', 3600000, 'demo.sleep', '[30]'), ('quick', 'FIXED_RATE', 1000, 'demo.note', '{}')`;
  await using _loop = await startLoop(test);
  await until("the quick one has run three times", async () => {
    const [row] = await test
      .owner`select count(*)::integer as runs from uptuple.task_runs where task = 'quick' and state = 'SUCCEEDED'`;
    return row.runs >= 3;
  });
  const [slow] = await test.owner`select state from uptuple.task_runs where task = 'slow'`;
  assert.equal(slow.state, "RUNNING");
});

Deno.test("a run is cut at its statement timeout, and its work is undone", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner`
    insert into uptuple.task (name, kind, interval_ms, function, arguments, statement_timeout_ms)
    values ('cut', 'FIXED_RATE', 3600000, 'demo.sleep', '[30]', 500)`;
  await using _loop = await startLoop(test);
  const run = await ended(test, "cut");
  assert.deepEqual(
    [run.state, run.error_code, run.error],
    ["FAILED", "57014", "canceling statement due to statement timeout"],
  );
  const [log] = await test.owner`select count(*)::integer as lines from demo.log`;
  assert.equal(log.lines, 0);
});

Deno.test("a run is cut before its lock runs out, although its own timeout is as long", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner`
    insert into uptuple.task (name, kind, interval_ms, function, arguments, lock_at_most_ms, statement_timeout_ms)
    values ('cut', 'FIXED_RATE', 3600000, 'demo.sleep', '[30]', 1500, 1500)`;
  await using _loop = await startLoop(test);
  const run = await ended(test, "cut");
  assert.deepEqual([run.state, run.error_code], ["FAILED", "57014"]);
  assert.ok((run.seconds as number) < 1.5, String(run.seconds));
});

Deno.test("run_task_now wakes the runtime", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test
    .owner`insert into uptuple.task (name, kind, cron, function) values ('asked', 'CRON', '@yearly', 'demo.note')`;
  await using _loop = await startLoop(test);
  await test.owner`select uptuple.run_task_now('asked')`;
  const run = await ended(test, "asked");
  assert.deepEqual([run.state, run.cause, run.requested_by], ["SUCCEEDED", "REQUEST", "postgres"]);
});

Deno.test("an edit of the table takes effect while the runtime goes on", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@yearly', 'demo.note')`;
  await using _loop = await startLoop(test);
  await until("the yearly fire is reckoned", async () => {
    const [row] = await test.owner`select next_fire_at from uptuple.tasks where name = 't'`;
    return row.next_fire_at;
  });
  await test.owner`update uptuple.task set cron = '* * * * * *', arguments = '{"line": "edited"}' where name = 't'`;
  assert.equal((await ended(test, "t")).value, "edited");
});

Deno.test("what ships is there when a runtime has started", async () => {
  await using test = await testDatabase();
  await using _loop = await startLoop(test);
  await until("the task that ships is reckoned", async () => {
    const rows = await test.owner<
      object[]
    >`select from uptuple.tasks where name = 'uptuple.prune_task_runs' and next_fire_at > now()`;
    return rows.length === 1;
  });
});

Deno.test("a runtime that stops cancels what it runs, records it, and gives the lock back", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner`
    insert into uptuple.task (name, kind, interval_ms, function, arguments)
    values ('long', 'FIXED_RATE', 3600000, 'demo.sleep', '[60]')`;
  const loop = await startLoop(test);
  await until("the run goes on", async () => {
    const [row] = await test
      .owner`select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep') as inside`;
    return row.inside;
  });
  const asked = performance.now();
  await loop.stop();
  assert.ok(performance.now() - asked < 4000);
  const run = await ended(test, "long");
  assert.deepEqual([run.state, run.error], [
    "FAILED",
    "the runtime was stopped: canceling statement due to user request",
  ]);
  assert.deepEqual([...await test.owner<object[]>`select * from uptuple.locks`], []);
});

Deno.test("every log line of a run has its trace id, what the function tells among them", async () => {
  await using log = await collectLog();
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  await test.owner.unsafe(`
    create function demo.tell() returns void language plpgsql as $$ begin raise notice 'half done'; raise exception 'then broken'; end $$;
    grant execute on function demo.tell() to uptuple_task`);
  await test
    .owner`insert into uptuple.task (name, kind, interval_ms, function) values ('t', 'FIXED_RATE', 3600000, 'demo.tell')`;
  const loop = await startLoop(test);
  const run = await ended(test, "t");
  await loop.stop();

  const lines = log.records.filter(({ properties }) => properties.task === "t");
  assert.deepEqual(new Set(lines.map(({ properties }) => properties.trace)), new Set([run.trace_id]));
  assert.match(
    lines.map(text).join("\n"),
    /^t is run \(\d+\)\nt: NOTICE half done\nt failed after \d+ ms: then broken$/,
  );
});

Deno.test("the tasks file is applied, an edit within seconds, and a broken edit is refused while the old tasks go on", async () => {
  await using log = await collectLog();
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  const path = await Deno.makeTempFile({ suffix: ".json" });
  const write = (version: number, tasks: unknown[]) =>
    Deno.writeTextFile(path, JSON.stringify({ version, groups: [{ name: "g", tasks }] }));
  const task = {
    name: "t",
    kind: "FIXED_RATE",
    interval_ms: 1000,
    function: "demo.note",
    arguments: { line: "${LINE}" },
  };
  const complaint = (part: string) =>
    until(
      `the log says ${part}`,
      () => log.records.some((record) => record.level === "error" && text(record).includes(part)),
    );
  try {
    await write(1, [task]);
    await using _loop = await startLoop(test, path);
    assert.equal((await ended(test, "t")).value, "from the environment");

    await write(2, [{ ...task, arguments: { line: "$${LINE}" } }]);
    await until("the edit is in force", async () => {
      const [row] = await test
        .owner`select exists (select from uptuple.task_runs where value = '"$\{LINE}"') as edited`;
      return row.edited;
    });

    await write(3, [{ ...task, interval_ms: 5 }]);
    await complaint('groups[0].tasks[0] "t": interval_ms is 5, and must be between 1000');
    await Deno.writeTextFile(path, "{ not json");
    await complaint("The file is not JSON, and the old tasks go on");
    await write(3, [{ ...task, arguments: { line: "${NOT_SET}" } }]);
    await complaint(
      "is refused, and the old tasks go on: groups[0].tasks[0].arguments.line names NOT_SET, which is not set in the environment",
    );
    await write(3, [{ ...task, arguments: { line: "${UPTUPLE_SECRET_X}" } }]);
    await complaint("names the secret UPTUPLE_SECRET_X");
    const [count] = await test.owner`select count(*)::integer as runs from uptuple.task_runs`;
    await until("the old task goes on", async () => {
      const [row] = await test.owner`select count(*)::integer as runs from uptuple.task_runs`;
      return row.runs > count.runs;
    });

    // With the mark that some editors put in front.
    await Deno.writeTextFile(path, '\uFEFF{"version": 3, "groups": []}');
    await until(
      "the task is removed",
      async () => (await test.owner<object[]>`select from uptuple.tasks where source = 'file'`).length === 0,
    );
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("a file that is gone leaves its tasks, and one that comes later is applied", async () => {
  await using test = await testDatabase();
  await createDemoFunctions(test.owner);
  await withoutShippedTasks(test.owner);
  const directory = await Deno.makeTempDir();
  const path = `${directory}/tasks.json`;
  const tasks = [{ name: "t", kind: "CRON", cron: "@daily", function: "demo.note" }];
  const inForce = async () => (await test.owner<object[]>`select from uptuple.tasks where source = 'file'`).length;
  try {
    await using loop = await startLoop(test, path);
    await Deno.writeTextFile(path, JSON.stringify({ version: 1, groups: [{ name: "g", tasks }] }));
    await until("the file is applied", async () => await inForce() === 1);
    await Deno.remove(path);
    await loop.stop();
    assert.equal(await inForce(), 1);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
