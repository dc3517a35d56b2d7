import type { TestSql } from "../../support/database.ts";

/** Functions for tasks to call, in the schema `demo`. All but `demo.secret` are granted to uptuple_task. */
export async function createDemoFunctions(sql: TestSql): Promise<void> {
  await sql.unsafe(`
    create schema demo;
    grant usage on schema demo to uptuple_task;
    create table demo.log (id bigint generated always as identity, line text, at timestamptz default clock_timestamp());
    grant insert, select on demo.log to uptuple_task;

    create function demo.note(line text default 'noted') returns text language plpgsql as $$
    begin
      insert into demo.log (line) values (note.line);
      return note.line;
    end $$;
    create function demo.nothing() returns void language plpgsql as 'begin end';
    create function demo.several(n integer) returns setof integer language sql as 'select generate_series(1, n)';
    create function demo.both(number integer, days date[], options jsonb default '{}', out x integer, out y text)
      language sql as $$ select number, array_to_string(days, ',') || options::text $$;
    create function demo.unnamed(integer, text) returns text language sql as 'select $1 || $2';
    create function demo.fail() returns void language plpgsql as $$
    begin
      insert into demo.log (line) values ('rolled back');
      raise exception 'broken on purpose' using errcode = 'P0042';
    end $$;
    create function demo.who() returns text language sql as 'select current_user::text';
    create function demo.sleep(seconds float8) returns void language plpgsql as $$
    begin
      perform pg_sleep(seconds);
      insert into demo.log (line) values ('slept');
    end $$;
    create function demo.secret() returns integer language sql as 'select 42';
    create function demo.twin(a integer) returns integer language sql as 'select 1';
    create function demo.twin(a text) returns integer language sql as 'select 2';

    grant execute on function demo.note(text), demo.nothing(), demo.several(integer), demo.both(integer, date[], jsonb),
      demo.unnamed(integer, text), demo.fail(), demo.who(), demo.sleep(float8), demo.twin(integer), demo.twin(text)
      to uptuple_task`);
}

/** Switches the tasks that ship off, so that only a test's own are due. */
export async function withoutShippedTasks(sql: TestSql): Promise<void> {
  await sql`select uptuple.ensure_builtin_tasks()`;
  await sql`update uptuple.task set enabled = false where source = 'builtin'`;
}

/** A row of `uptuple.claim_task`. */
export interface Claimed {
  run_id: string;
  token: string;
  task: string;
  fire_at: Date;
  trace_id: string;
}

/**
 * Claims one task. All times of a test are in minutes and hours, so real time does not matter.
 *
 * @param at The time to go by; the database's own if left out.
 */
export async function claim(sql: TestSql, at?: Date | string, worker = "tester"): Promise<Claimed | null> {
  const rows = at === undefined
    ? await sql<Claimed[]>`select * from uptuple.claim_task(${worker})`
    : await sql<Claimed[]>`select * from uptuple.claim_task_at(${worker}, ${at}::timestamptz)`;
  return rows[0] ?? null;
}

/** Claims, executes and finishes until nothing is due. Returns what was run. */
export async function runAll(sql: TestSql, at?: Date | string): Promise<Claimed[]> {
  const runs: Claimed[] = [];
  for (let run = await claim(sql, at); run !== null; run = await claim(sql, at)) {
    await sql`select uptuple.execute_task(${run.run_id}, ${run.token})`;
    await sql`select uptuple.finish_task(${run.run_id}, ${run.token})`;
    runs.push(run);
  }
  return runs;
}

/** Makes a task known since another time than now. */
export async function knownSince(sql: TestSql, task: string, since: string): Promise<void> {
  await sql`update uptuple.task_mark set first_known_at = ${since}::timestamptz where task = ${task}`;
}

/** Fires of a task with their states, in order. */
export async function fires(sql: TestSql, task: string): Promise<string[]> {
  const rows = await sql<{ fire: string }[]>`
    select to_char(fire_at at time zone 'UTC', 'MM-DD HH24:MI:SS ') || state as fire
    from uptuple.task_run where task = ${task} order by fire_at`;
  return rows.map((row) => row.fire);
}
