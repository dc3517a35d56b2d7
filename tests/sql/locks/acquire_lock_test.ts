import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";

async function acquire(sql: TestSql, name: string, atMost = "1 minute", atLeast = "0 s"): Promise<string | null> {
  const [row] = await sql`select uptuple.acquire_lock(${name}, ${atMost}, ${atLeast}) as token`;
  return row.token;
}

/** Moves a lock's whole time into the past, as if so much had gone by. */
async function age(sql: TestSql, name: string, by: string): Promise<void> {
  await sql`
    update uptuple.lock set locked_at = locked_at - ${by}::interval, lock_until = lock_until - ${by}::interval
    where name = ${name}`;
}

Deno.test("a lock that another instance holds is not given", async () => {
  await using database = await testDatabase();
  const first = await database.connect("uptuple_worker");
  const second = await database.connect("uptuple_worker");

  assert.match(await acquire(first, "nightly") ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(await acquire(second, "nightly"), null);
  assert.notEqual(await acquire(second, "weekly"), null);
});

Deno.test("at_most frees the lock of a holder that died, who can then neither extend nor release it", async () => {
  await using database = await testDatabase();
  const dead = await database.connect();
  const heir = await database.connect();
  const old = await acquire(dead, "nightly");

  await age(database.owner, "nightly", "59 s");
  assert.equal(await acquire(heir, "nightly"), null);
  await age(database.owner, "nightly", "1 s");
  const taken = await acquire(heir, "nightly");
  const [late] = await dead`
    select uptuple.extend_lock('nightly', ${old}, '1 minute') as extended, uptuple.release_lock('nightly', ${old}) as released`;

  assert.notEqual(taken, null);
  assert.notEqual(taken, old);
  assert.deepEqual({ ...late }, { extended: false, released: false });
  const [row] = await database.owner`select token from uptuple.lock where name = 'nightly'`;
  assert.equal(row.token, taken);
});

Deno.test("a holder whose time is over can neither extend nor release, although nobody took the lock", async () => {
  await using database = await testDatabase();
  const token = await acquire(database.owner, "nightly");
  await age(database.owner, "nightly", "1 minute");
  const [late] = await database.owner`
    select uptuple.extend_lock('nightly', ${token}, '1 minute') as extended, uptuple.release_lock('nightly', ${token}) as released`;
  assert.deepEqual({ ...late }, { extended: false, released: false });
});

Deno.test("a released lock is free at once, and its token is worth nothing", async () => {
  await using database = await testDatabase();
  const token = await acquire(database.owner, "nightly");
  const [row] = await database.owner`select uptuple.release_lock('nightly', ${token}) as released`;
  assert.equal(row.released, true);
  const [again] = await database.owner`
    select uptuple.release_lock('nightly', ${token}) as released, uptuple.extend_lock('nightly', ${token}, '1 minute') as extended`;
  assert.deepEqual({ ...again }, { released: false, extended: false });
  assert.notEqual(await acquire(database.owner, "nightly"), null);
});

Deno.test("at_least holds other instances off after quick work, and the holder cannot prolong what it gave back", async () => {
  await using database = await testDatabase();
  const token = await acquire(database.owner, "nightly", "10 minutes", "1 minute");
  await database.owner`select uptuple.release_lock('nightly', ${token})`;

  assert.equal(await acquire(database.owner, "nightly"), null);
  const [late] = await database.owner`select uptuple.extend_lock('nightly', ${token}, '1 hour') as extended`;
  assert.equal(late.extended, false);
  await age(database.owner, "nightly", "59 s");
  assert.equal(await acquire(database.owner, "nightly"), null);
  await age(database.owner, "nightly", "1 s");
  assert.notEqual(await acquire(database.owner, "nightly"), null);
});

Deno.test("work that took longer than at_least frees the lock when it is released", async () => {
  await using database = await testDatabase();
  const token = await acquire(database.owner, "nightly", "10 minutes", "1 minute");
  await age(database.owner, "nightly", "2 minutes");
  await database.owner`select uptuple.release_lock('nightly', ${token})`;
  assert.notEqual(await acquire(database.owner, "nightly"), null);
});

Deno.test("an extension counts from now and keeps the rest as it is", async () => {
  await using database = await testDatabase();
  const token = await acquire(database.owner, "nightly", "10 minutes", "5 minutes");
  await age(database.owner, "nightly", "9 minutes");
  const [row] = await database.owner`select uptuple.extend_lock('nightly', ${token}, '2 minutes') as extended`;
  assert.equal(row.extended, true);
  const [lock] = await database.owner`
    select extract(epoch from lock_until - clock_timestamp())::float8 as remaining, at_least_for::text, token from uptuple.lock`;
  assert.ok(lock.remaining > 110 && lock.remaining <= 120, String(lock.remaining));
  assert.equal(lock.at_least_for, "00:05:00");
  assert.equal(lock.token, token);
});

Deno.test("a lock that ends further ahead than its own time, after a clock was set back, is free", async () => {
  await using database = await testDatabase();
  const token = await acquire(database.owner, "nightly", "1 minute");
  await age(database.owner, "nightly", "-1 hour");

  const [holder] = await database.owner`select uptuple.extend_lock('nightly', ${token}, '1 minute') as extended`;
  assert.equal(holder.extended, false);
  assert.deepEqual([...await database.owner<object[]>`select * from uptuple.locks`], []);
  assert.notEqual(await acquire(database.owner, "nightly"), null);
});

Deno.test("the length of a lock is the same in a session whose clocks change in between", async () => {
  await using database = await testDatabase();
  await database.owner`set timezone = 'Europe/Berlin'`;
  await acquire(database.owner, "yearly", "400 days");
  await acquire(database.owner, "monthly", "1 month");
  const rows = await database.owner<{ name: string; seconds: number }[]>`
    select name, extract(epoch from lock_until - locked_at)::float8 as seconds from uptuple.lock order by name`;
  const [monthly, yearly] = rows.map((row) => Math.round(row.seconds / 8640) / 10);
  assert.deepEqual({ monthly, yearly }, { monthly: 30, yearly: 400 });
});

Deno.test("the view locks shows who holds what, since when and until when, and what at_least keeps", async () => {
  await using database = await testDatabase();
  await database.owner`select uptuple.acquire_lock('held', '1 minute', owner => 'somebody')`;
  const kept = await acquire(database.owner, "kept", "1 minute", "30 s");
  await database.owner`select uptuple.release_lock('kept', ${kept})`;
  const freed = await acquire(database.owner, "freed");
  await database.owner`select uptuple.release_lock('freed', ${freed})`;

  const viewer = await database.connect("uptuple_viewer");
  const rows = await viewer<Record<string, unknown>[]>`
    select name, state, locked_by, extract(epoch from lock_until - locked_at)::integer as seconds, locked_at <= now() as since
    from uptuple.locks order by name`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { name: "held", state: "HELD", locked_by: "somebody", seconds: 60, since: true },
    { name: "kept", state: "KEPT", locked_by: "postgres", seconds: 30, since: true },
  ]);
});

Deno.test("a duration or a name that cannot be is refused, and the message says which", async () => {
  await using database = await testDatabase();
  const refusals: Record<string, RegExp> = {
    "acquire_lock('a', null)": /at_most_for is null, and must be longer than zero/,
    "acquire_lock('a', '0 s')": /at_most_for is 00:00:00, and must be longer than zero/,
    "acquire_lock('a', '-1 s')": /at_most_for is -00:00:01, and must be longer than zero/,
    "acquire_lock('a', '1000000 years')": /at_most_for is 1000000 years, and must be at most 100 years/,
    "acquire_lock('a', '1 s', null)": /at_least_for is null, and must be zero or longer/,
    "acquire_lock('a', '1 s', '-1 s')": /at_least_for is -00:00:01, and must be zero or longer/,
    "acquire_lock('a', '1 s', '2 s')":
      /at_least_for is 00:00:02, and must not be longer than at_most_for, which is 00:00:01/,
    "acquire_lock(null, '1 s')": /name is null/,
    "acquire_lock('', '1 s')": /name is ''/,
    "acquire_lock('a', '1 s', owner => null)": /owner is null/,
    "extend_lock('a', gen_random_uuid(), '0 s')": /at_most_for is 00:00:00, and must be longer than zero/,
    "extend_lock('a', gen_random_uuid(), null)": /at_most_for is null, and must be longer than zero/,
  };
  for (const [call, message] of Object.entries(refusals)) {
    await assert.rejects(database.owner.unsafe(`select uptuple.${call}`), { message, code: "22023" }, call);
  }
  assert.deepEqual([...await database.owner<object[]>`select * from uptuple.lock`], []);
});

Deno.test("a name that was never locked and a null token are neither extended nor released", async () => {
  await using database = await testDatabase();
  await acquire(database.owner, "nightly");
  const [row] = await database.owner`
    select uptuple.release_lock('never', gen_random_uuid()) as unknown,
      uptuple.release_lock('nightly', null) as untold, uptuple.extend_lock('nightly', null, '1 s') as unextended`;
  assert.deepEqual({ ...row }, { unknown: false, untold: false, unextended: false });
});

Deno.test("a viewer can look at locks and take none", async () => {
  await using database = await testDatabase();
  const viewer = await database.connect("uptuple_viewer");
  await assert.rejects(acquire(viewer, "nightly"), /permission denied for function acquire_lock/);
});
