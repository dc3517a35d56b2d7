import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";

Deno.test("the maintenance view names who holds the oldest snapshot, and for how long", async () => {
  await using database = await testDatabase();
  const reader = await database.connect();
  await reader.unsafe("begin isolation level repeatable read");
  const [{ pid }] = await reader<[{ pid: number }]>`select pg_backend_pid() as pid`;

  const rows = await database.owner<{ kind: string; holder: string; held: boolean }[]>`
    select kind, oldest_snapshot_holder as holder, oldest_snapshot_age > interval '0' as held from uptuple.maintenance`;

  assert.deepEqual(rows.map(({ kind, held }) => ({ kind, held })), [{ kind: "job", held: true }, {
    kind: "result",
    held: true,
  }]);
  for (const { holder } of rows) {
    assert.match(holder, new RegExp(`^session ${pid} of \\w+ \\(uptuple test, idle in transaction\\)$`));
  }

  await reader.unsafe("rollback");
  const [after] = await database.owner`select oldest_snapshot_holder as holder from uptuple.maintenance`;
  assert.equal(after.holder, null);
});

Deno.test("a viewer sees who holds a snapshot, though PostgreSQL hides since when", async () => {
  await using database = await testDatabase();
  const viewer = await database.connect("uptuple_viewer");
  await database.owner.unsafe("begin isolation level repeatable read");
  const [{ pid, role }] = await database.owner`select pg_backend_pid() as pid, current_user::text as role`;

  const [row] = await viewer<[object]>`select * from uptuple.oldest_snapshot()`;

  assert.deepEqual({ ...row }, { age: null, holder: `session ${pid} of ${role} (uptuple test)` });
  await database.owner.unsafe("rollback");
});

Deno.test("the maintenance view tells the days and the bytes of the partitions", async () => {
  await using database = await testDatabase();
  await database.owner`select uptuple.ensure_partitions()`;

  const rows = await database.owner`
    select kind, partitions, oldest::text, newest::text, bytes > 0 as sized,
      oldest = (clock_timestamp() at time zone 'UTC')::date - 1 and newest = oldest + 8 as from_yesterday_to_a_week_ahead
    from uptuple.maintenance`;

  assert.deepEqual(
    rows.map(({ kind, partitions, sized, from_yesterday_to_a_week_ahead: days }) => ({
      kind,
      partitions,
      sized,
      days,
    })),
    [{ kind: "job", partitions: "9", sized: true, days: true }, {
      kind: "result",
      partitions: "9",
      sized: true,
      days: true,
    }],
  );
});

Deno.test("a snapshot that has just been taken is no problem", async () => {
  await using database = await testDatabase();
  const reader = await database.connect();
  await reader.unsafe("begin isolation level repeatable read");
  await reader`select 1`;

  const problems = await database.owner<{ problem: string }[]>`select problem from uptuple.problems`;

  assert.deepEqual(problems.filter(({ problem }) => problem.startsWith("A snapshot")), []);
  await reader.unsafe("rollback");
});

Deno.test("a snapshot that has been held for more than five minutes is a problem that names its holder", async () => {
  await using database = await testDatabase();
  // Nobody can make a snapshot old; that its age is told rightly is for the tests above.
  await database.owner`
    create or replace function uptuple.oldest_snapshot() returns table (age interval, holder text) language sql
    begin atomic select interval '5 minutes 1 second', 'session 7 of report'; end`;

  const problems = await database
    .owner`select severity, problem from uptuple.problems where problem like 'A snapshot%'`;

  assert.deepEqual(problems.map((row) => ({ ...row })), [{
    severity: "warning",
    problem: "A snapshot is held for 5 minutes, and keeps vacuum from cleaning up: session 7 of report.",
  }]);
});
