import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { createDemoFunctions } from "./demo_functions.ts";

const DAY_MS = 86_400_000;

Deno.test("what is left out gets its default when a row is written", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const operator = await database.connect("uptuple_operator");
  await operator`insert into uptuple.task (name, kind, cron, function) values ('plain', 'CRON', '@daily', 'demo.note')`;

  const [row] = await database.owner`select * from uptuple.task`;
  const { id: _, created_at, ...rest } = row;
  assert.ok(created_at instanceof Date);
  assert.deepEqual(rest, {
    name: "plain",
    source: "database",
    group_name: null,
    kind: "CRON",
    cron: "@daily",
    interval_ms: null,
    initial_delay_ms: "0",
    time_zone: "UTC",
    function: "demo.note",
    arguments: {},
    enabled: true,
    description: null,
    lock_name: "task:plain",
    lock_at_most_ms: "900000",
    lock_at_least_ms: "0",
    statement_timeout_ms: "300000",
    miss_policy: "once",
    miss_within_ms: String(7 * DAY_MS),
    miss_limit: 100,
    created_by: "uptuple_test_operator",
    changed_at: null,
    changed_by: null,
    removed_at: null,
  });
});

Deno.test("a row remembers who changed it and when", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  await database
    .owner`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'demo.note')`;
  const operator = await database.connect("uptuple_operator");
  await operator`update uptuple.task set description = 'why', created_by = 'nobody' where name = 't'`;
  const [row] = await database.owner`select created_by, changed_by, changed_at > created_at as later from uptuple.task`;
  assert.deepEqual({ ...row }, { created_by: "postgres", changed_by: "uptuple_test_operator", later: true });
});

Deno.test("a zone is stored as the server spells it", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const rows = await database.owner<{ time_zone: string }[]>`
    insert into uptuple.task (name, kind, cron, function, time_zone) values
      ('a', 'CRON', '@daily', 'demo.note', 'europe/berlin'),
      ('b', 'CRON', '@daily', 'demo.note', 'Europe/Berlin'),
      ('c', 'CRON', '@daily', 'demo.note', 'utc')
    returning time_zone`;
  assert.deepEqual(rows.map((row) => row.time_zone), ["Europe/Berlin", "Europe/Berlin", "UTC"]);
});

Deno.test("a row that breaks a rule is refused with the column, the value and the rule", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const valid = { name: "'t'", kind: "'FIXED_RATE'", interval_ms: "60000", function: "'demo.note'" };
  const cron = { ...valid, kind: "'CRON'", interval_ms: "null", cron: "'@daily'" };
  const refusals: [change: Record<string, string>, message: string, code?: string][] = [
    [
      { name: "null" },
      "name is null, and must be 1 to 200 characters without control characters or blanks at its ends",
    ],
    [
      { name: "' x'" },
      "name is ' x', and must be 1 to 200 characters without control characters or blanks at its ends",
    ],
    [{ kind: "'HOURLY'" }, "kind is 'HOURLY', and must be CRON, FIXED_RATE or FIXED_DELAY"],
    [{ kind: "null" }, "kind is null, and must be CRON, FIXED_RATE or FIXED_DELAY"],
    [
      { interval_ms: "null" },
      "a FIXED_RATE task has interval_ms and no cron; this one has interval_ms null and cron null",
    ],
    [
      { cron: "'@daily'" },
      "a FIXED_RATE task has interval_ms and no cron; this one has interval_ms 60000 and cron '@daily'",
    ],
    [{ kind: "'CRON'" }, "a CRON task has cron and no interval_ms; this one has cron null and interval_ms 60000"],
    [{ interval_ms: "999" }, "interval_ms is 999, and must be between 1000 (a second) and 31622400000 (366 days)"],
    [{ initial_delay_ms: "-1" }, "initial_delay_ms is -1, and must be between 0 and 31622400000 (366 days)"],
    [{ ...cron, cron: "'0 25 * * *'" }, 'cron field hour: "25" is not one of its values; allowed are 0-23'],
    [{ ...cron, cron: "'0 0 30 2 *'" }, 'cron expression "0 0 30 2 *" never fires in UTC'],
    [{ time_zone: "'UTC+2'" }, 'time_zone "UTC+2" is not a zone\'s name'],
    [{ time_zone: "'Mars/Phobos'" }, 'time_zone "Mars/Phobos" is not known'],
    [{ function: "null" }, "function is null, and must be a name with its schema"],
    [{ function: "'note'" }, "function is 'note', and must be a name with its schema"],
    [
      { function: "'demo.note; drop table x'" },
      "function is 'demo.note; drop table x', and must be a name with its schema",
    ],
    [{ function: "'demo.missing'" }, "there is no function demo.missing", "UT001"],
    [{ function: "'demo.missing(integer)'" }, "there is no function demo.missing(integer)", "UT001"],
    [{ function: "'demo.secret'" }, "tasks may not call demo.secret()", "UT002"],
    [
      { function: "'pg_catalog.pg_sleep'", arguments: "'[1]'" },
      "tasks may not call pg_sleep(double precision)",
      "UT002",
    ],
    [{ function: "'demo.twin'", arguments: "'[1]'" }, "there are several functions demo.twin"],
    [{ function: "'pg_catalog.lag(anyelement)'" }, "lag(anyelement) cannot be called with select"],
    [{ arguments: "'1'" }, "arguments is 1, and must be an object of names and values, or an array"],
    [{ arguments: "'{\"lines\": 1}'" }, "demo.note(text) has no argument lines"],
    [{ arguments: "'[1, 2]'" }, "demo.note(text) has no argument #2"],
    [{ function: "'demo.several'" }, "the argument n of demo.several(integer) is missing"],
    [
      { lock_name: "''" },
      "lock_name is '', and must be 1 to 200 characters without control characters or blanks at its ends",
    ],
    [{ lock_at_most_ms: "0" }, "lock_at_most_ms is 0, and must be between 1000 (a second) and 604800000 (7 days)"],
    [
      { lock_at_least_ms: "900001" },
      "lock_at_least_ms is 900001, and must be between 0 and lock_at_most_ms, which is 900000",
    ],
    [{ lock_at_least_ms: "60000" }, "lock_at_least_ms is 60000, and must be less than interval_ms, which is 60000"],
    [
      { statement_timeout_ms: "900001" },
      "statement_timeout_ms is 900001, and must be between 100 and lock_at_most_ms, which is 900000",
    ],
    [{ miss_policy: "'never'" }, "miss_policy is 'never', and must be skip, once or all"],
    [
      { kind: "'FIXED_DELAY'", miss_policy: "'all'" },
      "miss_policy is 'all', and a FIXED_DELAY task misses nothing: it waits for the end of its last run",
    ],
    [{ miss_within_ms: "1" }, "miss_within_ms is 1, and must be between 1000 (a second) and 31622400000 (366 days)"],
    [{ miss_limit: "0" }, "miss_limit is 0, and must be between 1 and 1000"],
  ];
  for (const [change, message, code = "22023"] of refusals) {
    const columns = { ...valid, ...change };
    const insert = `insert into uptuple.task (${Object.keys(columns)}) values (${Object.values(columns)})`;
    await assert.rejects(database.owner.unsafe(insert), { message, code }, insert);
  }
  assert.deepEqual([...await database.owner<object[]>`select * from uptuple.task_mark`], []);
});

Deno.test("a function of a schema that tasks may not use is refused with the grant that is missing", async () => {
  await using database = await testDatabase();
  await database.owner.unsafe(`
    create schema closed;
    create function closed.f() returns void language sql as '';
    grant execute on function closed.f() to uptuple_task`);
  await assert.rejects(
    database.owner`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'closed.f')`,
    {
      message: "tasks may not use the schema of closed.f()",
      hint: "Allow it: grant usage on schema closed to uptuple_task;",
    },
  );
});

Deno.test("a task whose function is gone can still be disabled, and not be given another that is not there", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'demo.note')`;
  await owner`drop function demo.note(text)`;
  await owner`update uptuple.task set enabled = false`;
  await assert.rejects(owner`update uptuple.task set function = 'demo.other'`, { code: "UT001" });
  const [row] = await owner`select enabled from uptuple.tasks`;
  assert.equal(row.enabled, false);
});

Deno.test("a task's name and source stay as they are, and a name is there once for each source", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const insert = () =>
    owner`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'demo.note')`;
  await insert();
  await assert.rejects(owner`update uptuple.task set name = 'u'`, { code: "UT002" });
  await assert.rejects(owner`update uptuple.task set source = 'file'`, { code: "UT002" });
  await assert.rejects(insert(), /duplicate key value violates unique constraint "task_name_key"/);
});

Deno.test("of one name the database's row wins over the file's, and that over the one that ships", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const operator = await database.connect("uptuple_operator");
  const inForce = async () =>
    (await owner<{ source: string }[]>`select source from uptuple.tasks`).map(({ source }) => source);
  for (const source of ["builtin", "file", "database"]) {
    await owner`
      insert into uptuple.task (name, source, kind, cron, function) values ('t', ${source}, 'CRON', '@daily', 'demo.note')`;
    assert.deepEqual(await inForce(), [source]);
  }

  await operator`select uptuple.use_tasks_from('file')`;
  assert.deepEqual(await inForce(), ["file"]);
  await operator`select uptuple.use_tasks_from('database')`;
  assert.deepEqual(await inForce(), ["database"]);
  await operator`select uptuple.remove_task('t')`;
  assert.deepEqual(await inForce(), ["builtin"], "what ships is always there");
  await operator`select uptuple.use_tasks_from('both')`;
  assert.deepEqual(await inForce(), ["file"]);
  await operator`select uptuple.remove_task('t')`;
  assert.deepEqual(await inForce(), ["file"], "below the file's entry, the one that ships was removed");
  await assert.rejects(operator`select uptuple.remove_task('t')`, {
    code: "UT002",
    message: "the task 't' is in the tasks file",
  });
  await assert.rejects(operator`select uptuple.use_tasks_from('nowhere')`, { code: "22023" });
});

Deno.test("a removed task keeps its runs, and a new one of its name is known from then on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const insert = () =>
    owner`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'demo.note')`;
  await insert();
  await owner`update uptuple.task_mark set first_known_at = '2020-01-01Z', paused_at = now()`;
  await owner`select uptuple.run_task_now('t')`;
  await owner`select uptuple.remove_task('t')`;
  assert.deepEqual([...await owner<object[]>`select * from uptuple.tasks`], []);
  await insert();
  const [mark] = await owner`
    select first_known_at > now() - interval '1 hour' as new, paused_at from uptuple.task_mark where task = 't'`;
  assert.deepEqual({ ...mark }, { new: true, paused_at: null });
  const [runs] = await owner`select count(*)::integer as count from uptuple.task_runs`;
  assert.equal(runs.count, 1);
});

Deno.test("a worker and a viewer see tasks without their arguments, and change none", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  for (const role of ["uptuple_worker", "uptuple_viewer"] as const) {
    const sql = await database.connect(role);
    await sql`select * from uptuple.tasks`;
    await assert.rejects(sql`select arguments from uptuple.task`, /permission denied for table task/);
    await assert.rejects(
      sql`insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'demo.note')`,
      /permission denied for table task/,
    );
    await assert.rejects(sql`select uptuple.pause_task('t')`, /permission denied for function pause_task/);
  }
});
