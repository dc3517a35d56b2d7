import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { backendOf, neverWait, untilBlocked } from "../../support/blocked.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  checkNextWindow,
  claimOne,
  complete,
  enqueue,
} from "../../support/services.ts";

const DAY = 86_400;

async function today(sql: TestSql): Promise<number> {
  const [clock] = await sql`select (extract(epoch from clock_timestamp())::bigint / ${DAY} * ${DAY})::integer as start`;
  return clock.start;
}

/** Names of the partitions of a table, oldest first. */
async function partitions(sql: TestSql, parent: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${`uptuple.${parent}`}::regclass order by 1`;
  return rows.map((row) => row.name);
}

/** The name of a partition that begins at an epoch second. */
const nameOf = (parent: string, start: number): string =>
  `uptuple.${parent}_${new Date(start * 1000).toISOString().slice(0, 10).replaceAll("-", "")}`;

async function ensure(sql: TestSql, from: number, to: number): Promise<number> {
  const [answer] = await sql`select uptuple.ensure_partitions(${from}, ${to}) as made`;
  return answer.made;
}

Deno.test("partitions are made from yesterday to a week ahead, by day in UTC, and only once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);

  await owner`select uptuple.ensure_partitions()`;
  const [again] = await owner`select uptuple.ensure_partitions() as made`;

  assert.equal(again.made, 0);
  for (const parent of ["job", "result"]) {
    const wanted = Array.from({ length: 9 }, (_, day) => nameOf(parent, start + (day - 1) * DAY));
    const there = await partitions(owner, parent);
    assert.deepEqual(wanted.filter((name) => !there.includes(name)), []);
  }
});

Deno.test("a partition takes the slots of its day, from its first second to its last", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner) - 20 * DAY;
  assert.equal(await ensure(owner, start, start), 2);

  for (const slot of [start, start + DAY - 1]) {
    const [row] = await owner`
      insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
      values (${slot}, 1, clock_timestamp(), 1, 30, 'default') returning tableoid::regclass::text as partition`;
    assert.equal(row.partition, nameOf("job", start));
  }
  await assert.rejects(
    owner`
      insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
      values (${start + DAY}, 1, clock_timestamp(), 1, 30, 'default')`,
    { code: "23514" },
  );
});

Deno.test("enqueueing, requests, confirmations and records by hand make the partition that they need", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const drop = async () => {
    for (const parent of ["job", "result"]) {
      for (const name of await partitions(owner, parent)) await owner.unsafe(`drop table ${name}`);
    }
  };

  await drop();
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "1 second" });
  await drop();
  await owner`select uptuple.check_now('inventory')`;
  await drop();
  await owner`select uptuple.record_health('inventory', 'UP')`;
  await drop();
  await owner`update uptuple.service set first_slot = 0`;
  await owner`update uptuple.enqueue_cursor set enqueued_until = enqueued_until - 2 * 86400`;
  assert.ok(await enqueue(owner) >= 1);
  await owner`update uptuple.job set due_at = clock_timestamp() - interval '1 s'`;
  assert.equal(await complete(owner, await claimOne(owner), { error: { code: "dns" } }), true);
});

Deno.test("a partition is attached without waiting for those who read and write the table, nor making them wait", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const writer = await database.connect();
  await writer`begin`;
  await writer`update uptuple.job set error = 'busy'`;

  await neverWait(owner);
  const start = await today(owner) + 30 * DAY;
  assert.equal(await ensure(owner, start, start), 2);

  await writer`commit`;
});

Deno.test("ensure against ensure: of two callers that want the same day the second finds it made", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const first = await database.connect();
  const second = await database.connect();
  const secondPid = await backendOf(second);
  const start = await today(owner) + 30 * DAY;

  await first`begin`;
  assert.equal(await ensure(first, start, start), 2);
  const waiting = ensure(second, start, start);
  waiting.catch(() => {});
  await untilBlocked(owner, secondPid);
  await first`commit`;

  assert.equal(await waiting, 0);
});

Deno.test("jobs are dropped after two days and results after thirty, a whole day at a time", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await ensure(owner, start - 35 * DAY, start);

  const [answer] = await owner`select uptuple.drop_old_partitions() as dropped`;

  assert.equal(answer.dropped, 33 + 5);
  assert.deepEqual((await partitions(owner, "job"))[0], nameOf("job", start - 2 * DAY));
  assert.deepEqual((await partitions(owner, "result"))[0], nameOf("result", start - 30 * DAY));
  const [again] = await owner`select uptuple.drop_old_partitions() as dropped`;
  assert.equal(again.dropped, 0);
});

Deno.test("jobs and results may be kept for longer or shorter, but no job that may still be claimed goes, and no result before its job", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await ensure(owner, start - 10 * DAY, start);

  await owner`select uptuple.drop_old_partitions(keep_jobs => '3 days', keep_results => '7 days')`;

  assert.equal((await partitions(owner, "job"))[0], nameOf("job", start - 3 * DAY));
  assert.equal((await partitions(owner, "result"))[0], nameOf("result", start - 7 * DAY));
  await assert.rejects(owner`select uptuple.drop_old_partitions(keep_jobs => '1 day')`, {
    code: "22023",
    message: "keep_jobs is 1 day, and must be at least 2 days",
  });
  await assert.rejects(owner`select uptuple.drop_old_partitions(keep_jobs => '7 days', keep_results => '3 days')`, {
    code: "22023",
    message: "keep_results is 3 days, and must be at least keep_jobs (7 days)",
  });
});

Deno.test("a partition that is in use stays until the next call, and the others are dropped", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await ensure(owner, start - 4 * DAY, start);
  const reader = await database.connect();
  await reader`begin`;
  await reader.unsafe(`select count(*) from ${nameOf("job", start - 3 * DAY)}`);

  const [first] = await owner`select uptuple.drop_old_partitions() as dropped`;
  assert.deepEqual(await partitions(owner, "job"), [
    nameOf("job", start - 3 * DAY),
    ...[2, 1, 0].map((day) => nameOf("job", start - day * DAY)),
  ]);
  await reader`commit`;
  const [second] = await owner`select uptuple.drop_old_partitions() as dropped`;

  assert.deepEqual([first.dropped, second.dropped], [1, 1]);
});

Deno.test("history that was dropped leaves the state and the reports of what is kept as they were", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await ensure(owner, start - 5 * DAY, start);
  await addCheckedService(owner, "inventory");
  await checkNextWindow(owner, "inventory", ANSWERED);

  await owner`select uptuple.drop_old_partitions()`;

  await checkNextWindow(owner, "inventory", ANSWERED);
  const [state] = await owner`select status, applied_count from uptuple.service_state`;
  assert.deepEqual({ ...state }, { status: "UP", applied_count: "3" });
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
});
