import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { claim, createDemoFunctions } from "./demo_functions.ts";

/** Adds a task, asks for a run and executes it. */
async function execute(sql: TestSql, name: string, call: string, args: object = {}): Promise<Record<string, unknown>> {
  await sql`insert into uptuple.task (name, kind, cron, function, arguments) values (${name}, 'CRON', '@yearly', ${call}, ${args as never})`;
  await sql`select uptuple.run_task_now(${name})`;
  const run = await claim(sql);
  assert.equal(run?.task, name);
  const [row] = await sql`select * from uptuple.execute_task(${run.run_id}, ${run.token})`;
  await sql`select uptuple.finish_task(${run.run_id}, ${run.token})`;
  return { ...row };
}

Deno.test("a function runs as uptuple_task, whoever claims the run", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const worker = await database.connect("uptuple_worker");
  await database
    .owner`insert into uptuple.task (name, kind, interval_ms, function) values ('who', 'FIXED_RATE', 60000, 'demo.who')`;

  const run = await claim(worker);
  assert.ok(run);
  const [row] = await worker`select * from uptuple.execute_task(${run.run_id}, ${run.token})`;
  assert.deepEqual({ ...row }, { row_count: null, value: "uptuple_task" });
});

Deno.test("a value is kept, rows are counted, and nothing is nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  assert.deepEqual(await execute(owner, "a", "demo.note"), { row_count: null, value: "noted" });
  assert.deepEqual(await execute(owner, "b", "demo.several", { n: 7 }), { row_count: "7", value: null });
  assert.deepEqual(await execute(owner, "c", "demo.nothing"), { row_count: null, value: null });
  const [kept] = await owner`select row_count, value, took > '0' as timed from uptuple.task_runs where task = 'a'`;
  assert.deepEqual({ ...kept }, { row_count: null, value: "noted", timed: true });
});

Deno.test("arguments are passed by name or by position, each as the type that the function has", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const named = { number: 3, days: ["2027-01-01", "2027-01-02"], options: { a: [1] } };
  assert.deepEqual((await execute(owner, "named", "demo.both", named)).value, {
    x: 3,
    y: '2027-01-01,2027-01-02{"a": [1]}',
  });
  const ordered = [3, ["2027-01-01"]];
  assert.deepEqual((await execute(owner, "ordered", "demo.both", ordered)).value, { x: 3, y: "2027-01-01{}" });
  assert.equal((await execute(owner, "unnamed", "demo.unnamed", [4, "x"])).value, "4x");
  assert.equal((await execute(owner, "twin", "demo.twin(text)", ["x"])).value, 2);
});

Deno.test("a value that is too long to keep is cut", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const { value } = await execute(database.owner, "long", "demo.note", { line: "x".repeat(20_000) });
  assert.equal(String(value).length, 8004);
});

Deno.test("a function that was granted to everybody but not to uptuple_task does not run, also if it was granted once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, interval_ms, function) values ('t', 'FIXED_RATE', 60000, 'demo.note')`;
  const run = await claim(owner);
  assert.ok(run);
  await owner`revoke execute on function demo.note(text) from uptuple_task`;

  await assert.rejects(owner`select uptuple.execute_task(${run.run_id}, ${run.token})`, {
    code: "UT002",
    message: "tasks may not call demo.note(text)",
  });
  const [log] = await owner`select count(*)::integer as lines from demo.log`;
  assert.equal(log.lines, 0);
});

Deno.test("a function cannot become its caller or the owner", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner.unsafe(`
    create function demo.become_caller() returns void language plpgsql as 'begin reset role; end';
    create function demo.become_owner() returns void language plpgsql as 'begin set role uptuple_owner; end';
    create function demo.login_again() returns void language plpgsql as 'begin set session authorization postgres; end';
    create function demo.write_tasks() returns void language plpgsql as $$ begin delete from uptuple.task_run; end $$;
    grant execute on function demo.become_caller(), demo.become_owner(), demo.login_again(), demo.write_tasks() to uptuple_task`);
  for (const name of ["become_caller", "become_owner"]) {
    await assert.rejects(
      execute(owner, name, `demo.${name}`),
      /cannot set parameter "role" within security-definer function/,
    );
  }
  await assert.rejects(
    execute(owner, "login", "demo.login_again"),
    /cannot set parameter "session_authorization" within/,
  );
  await assert.rejects(execute(owner, "write", "demo.write_tasks"), /permission denied for table task_run/);
});

Deno.test("a deferred trigger of a function's work fires as uptuple_task too, and not as whoever commits", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner.unsafe(`
    create function demo.sneak() returns trigger language plpgsql as $$
    begin
      insert into demo.log (line) values ('fired as ' || current_user);
      return null;
    end $$;
    create function demo.defer() returns void language plpgsql as $$
    begin
      create temporary table sneaky (x integer);
      create constraint trigger later after insert on sneaky deferrable initially deferred
        for each row execute function demo.sneak();
      insert into sneaky values (1);
    end $$;
    grant execute on function demo.defer(), demo.sneak() to uptuple_task`);
  await execute(owner, "defer", "demo.defer");
  const [log] = await owner`select line from demo.log`;
  assert.equal(log.line, "fired as uptuple_task");
});

Deno.test("a cursor that a function leaves open is closed, and its query does not run as whoever commits", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner.unsafe(`
    create function demo.tell() returns integer language plpgsql as $$
    begin
      insert into demo.log (line) values ('fetched as ' || current_user);
      return 1;
    end $$;
    create function demo.hold() returns void language plpgsql as $$
    begin
      execute 'declare left_open cursor with hold for select demo.tell()';
    end $$;
    grant execute on function demo.hold(), demo.tell() to uptuple_task`);
  await execute(owner, "hold", "demo.hold");
  assert.deepEqual([...await owner`select line from demo.log`], []);
  assert.deepEqual([...await owner`select name from pg_cursors where is_holdable`], []);
});

Deno.test("a deferred trigger that defers itself again does not reach the commit", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner.unsafe(`
    create function demo.again() returns trigger language plpgsql as $$
    begin
      insert into demo.log (line) values ('fired as ' || current_user);
      set constraints all deferred;
      insert into sneaky values (new.x + 1);
      return null;
    end $$;
    create function demo.defer() returns void language plpgsql as $$
    begin
      create temporary table sneaky (x integer);
      create constraint trigger later after insert on sneaky deferrable initially deferred
        for each row when (new.x < 3) execute function demo.again();
      insert into sneaky values (1);
    end $$;
    grant execute on function demo.defer(), demo.again() to uptuple_task`);
  await assert.rejects(execute(owner, "defer", "demo.defer"), /"sneaky" because it has pending trigger events/);
  assert.deepEqual([...await owner`select line from demo.log`], []);
});

Deno.test("what a function sets in its session is undone, and the owner does not look where its search_path points", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner.unsafe(`
    create function demo.clock_timestamp() returns timestamptz language plpgsql as $$
    begin
      insert into demo.log (line) values ('called as ' || current_user);
      return pg_catalog.clock_timestamp();
    end $$;
    create function demo.point() returns void language plpgsql as $$
    begin
      set search_path = demo, pg_catalog;
      set work_mem = '123 kB';
    end $$;
    grant execute on function demo.point(), demo.clock_timestamp() to uptuple_task`);
  const settings = () =>
    owner`select current_setting('search_path') as search_path, current_setting('work_mem') as work_mem`;
  const before = [...await settings()];
  await execute(owner, "point", "demo.point");
  assert.deepEqual([...await owner`select line from demo.log`], []);
  assert.deepEqual([...await settings()], before);
});

Deno.test("nothing is run through a door that somebody has altered", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`alter function uptuple.run_as_task(text, jsonb) security invoker`;
  await assert.rejects(execute(owner, "who", "demo.who"), {
    code: "UT002",
    message: /run_as_task does not run as its owner/,
  });
});

Deno.test("the check of an argument's type runs as uptuple_task, and not as the owner", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner.unsafe(`
    create function demo.tell(value integer) returns boolean language plpgsql as $$
    begin
      insert into demo.log (line) values ('checked as ' || current_user);
      return true;
    end $$;
    create domain demo.watched as integer check (demo.tell(value));
    create function demo.watch(a demo.watched) returns void language plpgsql as 'begin end';
    grant execute on function demo.watch(demo.watched), demo.tell(integer) to uptuple_task`);
  await execute(owner, "watch", "demo.watch", { a: 1 });
  const lines = await owner<{ line: string }[]>`select distinct line from demo.log`;
  assert.deepEqual(lines.map(({ line }) => line), ["checked as uptuple_task"]);
});

Deno.test("a run is executed once, with its token, while its lock is held", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, interval_ms, function) values ('once', 'FIXED_RATE', 60000, 'demo.note')`;
  const run = await claim(owner);
  assert.ok(run);
  const refused = { code: "UT002", message: `run ${run.run_id} is not held with this token` };

  await assert.rejects(owner`select uptuple.execute_task(${run.run_id}, gen_random_uuid())`, refused);
  await owner`update uptuple.task_run set lease_until = clock_timestamp()`;
  await assert.rejects(owner`select uptuple.execute_task(${run.run_id}, ${run.token})`, refused);
  await owner`update uptuple.task_run set lease_until = clock_timestamp() + interval '1 minute'`;
  await owner`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  await assert.rejects(owner`select uptuple.execute_task(${run.run_id}, ${run.token})`, refused);
  await owner`select uptuple.finish_task(${run.run_id}, ${run.token})`;
  await assert.rejects(owner`select uptuple.execute_task(${run.run_id}, ${run.token})`, refused);
  const [log] = await owner`select count(*)::integer as lines from demo.log`;
  assert.equal(log.lines, 1);
});

Deno.test("a run does what the task was when it was claimed, although the task was edited since", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function, arguments)
    values ('edited', 'FIXED_RATE', 60000, 'demo.note', '{"line": "old"}')`;
  const run = await claim(owner);
  assert.ok(run);
  await owner`update uptuple.task set arguments = '{"line": "new"}'`;
  const [row] = await owner`select value from uptuple.execute_task(${run.run_id}, ${run.token})`;
  assert.equal(row.value, "old");
});
