import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../support/database.ts";
import { until } from "../support/wait.ts";

/** Waits until a backend stands still at a lock that another holds. */
async function blocked(sql: TestSql, pid: number): Promise<void> {
  await until("the second connection waits for the first", async () => {
    const [row] = await sql`select cardinality(pg_blocking_pids(${pid})) > 0 as waits`;
    return row.waits;
  });
}

async function backend(sql: TestSql): Promise<number> {
  const [row] = await sql`select pg_backend_pid() as pid`;
  return row.pid;
}

/** Nineteen of twenty are refused; asking again at once would only take the processor from the one inside. */
function backOff(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
}

Deno.test("of 20 connections over 2000 acquisitions no two are ever inside", async () => {
  await using database = await testDatabase();
  await database.owner`create table counter (value integer not null)`;
  await database.owner`insert into counter values (0)`;
  const connections = await Promise.all(Array.from({ length: 20 }, () => database.connect()));
  let acquisitions = 0;

  await Promise.all(connections.map(async (sql) => {
    while (acquisitions < 2000) {
      const [lock] = await sql`select uptuple.acquire_lock('counter', '1 minute') as token`;
      if (lock.token === null) {
        await backOff();
        continue;
      }
      // Read, add and write in three steps, so that an overlap of two holders loses a count.
      const [counter] = await sql`select value from counter`;
      await sql`update counter set value = ${counter.value + 1}`;
      acquisitions += 1;
      const [given] = await sql`select uptuple.release_lock('counter', ${lock.token}) as back`;
      assert.equal(given.back, true);
    }
  }));

  const [counter] = await database.owner`select value from counter`;
  assert.equal(counter.value, acquisitions);
  assert.ok(acquisitions >= 2000);
});

Deno.test("of two callers who meet at an expired lock the second waits for the first and gets nothing", async () => {
  await using database = await testDatabase();
  const first = await database.connect();
  const second = await database.connect();
  await database.owner`select uptuple.acquire_lock('nightly', '1 minute')`;
  await database.owner`update uptuple.lock set lock_until = clock_timestamp()`;
  const secondPid = await backend(second);

  await first`begin`;
  const [taken] = await first`select uptuple.acquire_lock('nightly', '1 minute') as token`;
  const waiting = second`select uptuple.acquire_lock('nightly', '1 minute') as token`.execute();
  await blocked(database.owner, secondPid);
  await first`commit`;

  const [refused] = await waiting;
  assert.notEqual(taken.token, null);
  assert.equal(refused.token, null);
});

Deno.test("of two callers who meet at a new name the second waits for the first and gets nothing", async () => {
  await using database = await testDatabase();
  const first = await database.connect();
  const second = await database.connect();
  const secondPid = await backend(second);

  await first`begin`;
  const [taken] = await first`select uptuple.acquire_lock('new', '1 minute') as token`;
  const waiting = second`select uptuple.acquire_lock('new', '1 minute') as token`.execute();
  await blocked(database.owner, secondPid);
  await first`commit`;

  const [refused] = await waiting;
  assert.notEqual(taken.token, null);
  assert.equal(refused.token, null);
});

Deno.test("an extension that was in time when it was asked for, and waited for a thief of the lock, comes too late", async () => {
  await using database = await testDatabase();
  const holder = await database.connect();
  const thief = await database.connect();
  const [held] = await holder`select uptuple.acquire_lock('nightly', '1 minute') as token`;
  const holderPid = await backend(holder);

  await thief`begin`;
  await thief`select from uptuple.lock for update`;
  const waiting = holder`select uptuple.extend_lock('nightly', ${held.token}, '1 minute') as extended`.execute();
  await blocked(database.owner, holderPid);
  await thief`update uptuple.lock set lock_until = clock_timestamp()`;
  const [stolen] = await thief`select uptuple.acquire_lock('nightly', '1 minute') as token`;
  await thief`commit`;

  const [late] = await waiting;
  assert.notEqual(stolen.token, null);
  assert.equal(late.extended, false);
  const [lock] = await database.owner`select token from uptuple.lock`;
  assert.equal(lock.token, stolen.token);
});

Deno.test("an extension whose time ran out while it waited comes too late", async () => {
  await using database = await testDatabase();
  const holder = await database.connect();
  const other = await database.connect();
  const [held] = await holder`select uptuple.acquire_lock('nightly', '1 minute') as token`;
  const holderPid = await backend(holder);

  await other`begin`;
  await other`update uptuple.lock set lock_until = clock_timestamp() + interval '1 ms'`;
  const waiting = holder`select uptuple.extend_lock('nightly', ${held.token}, '1 minute') as extended`.execute();
  await blocked(database.owner, holderPid);
  await other`commit`;

  const [late] = await waiting;
  assert.equal(late.extended, false);
});

Deno.test("the time of a lock that was waited for counts from the end of the wait", async () => {
  await using database = await testDatabase();
  const first = await database.connect();
  const second = await database.connect();
  await database.owner`select uptuple.acquire_lock('nightly', '1 minute')`;
  await database.owner`update uptuple.lock set lock_until = clock_timestamp()`;
  const secondPid = await backend(second);

  await first`begin`;
  await first`select from uptuple.lock where name = 'nightly' for update`;
  const waiting = second`select uptuple.acquire_lock('nightly', '1 minute') as token`.execute();
  await blocked(database.owner, secondPid);
  const [released] = await first`select clock_timestamp() as at`;
  await first`commit`;

  const [taken] = await waiting;
  assert.notEqual(taken.token, null);
  const [lock] = await database.owner`
    select locked_at > ${released.at} as "lockedLater", lock_until > ${released.at} + interval '1 minute' as "untilLater"
    from uptuple.lock`;
  assert.deepEqual({ ...lock }, { lockedLater: true, untilLater: true });
});
