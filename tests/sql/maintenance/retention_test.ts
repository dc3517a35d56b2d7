import assert from "node:assert/strict";
import { addChannel, answerAll, fail, passTime, recover } from "../../support/alerts.ts";
import { openClient } from "../../../src/database/client.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import {
  addPastService,
  DAY,
  HOUR,
  nowSecond,
  type PastWindow,
  report,
  rollUp,
  unroll,
  writePast,
} from "../../support/history.ts";
import { addService, assertNoViolations, enqueue } from "../../support/services.ts";

/** How many whole days of a table are older than today's; partitions for the days ahead do not count. */
async function daysKept(sql: TestSql, table: "job" | "result"): Promise<number> {
  const [row] = await sql`
    select count(*)::integer as days from pg_inherits
    where inhparent = ${`uptuple.${table}`}::regclass
      and to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') < (clock_timestamp() at time zone 'UTC')::date`;
  return row.days;
}

async function applyRetention(sql: TestSql): Promise<Record<string, unknown>> {
  const [row] = await sql`select * from uptuple.apply_retention()`;
  return { ...row };
}

async function today(sql: TestSql): Promise<number> {
  const now = await nowSecond(sql);
  return now - now % DAY;
}

Deno.test("what is kept for how long is shown to everybody, and an operator changes it", async () => {
  await using database = await testDatabase();
  const operator = await database.connect("uptuple_operator");
  const viewer = await database.connect("uptuple_viewer");
  const shown = async () => {
    const rows = await viewer<{ kind: string; keep: string | null }[]>`select kind, keep::text from uptuple.kept`;
    return rows.map(({ kind, keep }) => `${kind} ${keep}`);
  };
  assert.deepEqual(await shown(), [
    "jobs 2 days",
    "results 30 days",
    "hours 400 days",
    "days null",
    "notices 400 days",
  ]);

  const [before] = await operator`select uptuple.set_retention('results', '60 days')::text as keep`;
  await operator`select uptuple.set_retention('hours', null), uptuple.set_retention('notices', '3 years')`;

  assert.equal(before.keep, "30 days");
  assert.deepEqual(await shown(), ["jobs 2 days", "results 60 days", "hours null", "days null", "notices 3 years"]);
  await assert.rejects(viewer`select uptuple.set_retention('results', '60 days')`, { code: "42501" });
});

Deno.test("what is coarser is kept as long as what it is made of, and jobs as long as they may be claimed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const refused: [kind: string, keep: string | null, message: string][] = [
    ["checks", "1 day", "kind is 'checks', which nothing is kept as"],
    ["jobs", "47 hours", "keep is 47:00:00, and jobs must be kept for at least 2 days"],
    ["notices", "30 days", "keep is 30 days, and notices must be kept for at least 400 days"],
    ["jobs", "31 days", "keep is 31 days, and jobs must not be kept longer than results (30 days)"],
    ["jobs", null, "keep is for ever, and jobs must not be kept longer than results (30 days)"],
    ["results", "1 day", "keep is 1 day, and results must be kept at least as long as jobs (2 days)"],
    ["results", "401 days", "keep is 401 days, and results must not be kept longer than hours (400 days)"],
    ["hours", "29 days", "keep is 29 days, and hours must be kept at least as long as results (30 days)"],
    ["days", "399 days", "keep is 399 days, and days must be kept at least as long as hours (400 days)"],
  ];
  for (const [kind, keep, message] of refused) {
    await assert.rejects(owner`select uptuple.set_retention(${kind}, ${keep}::interval)`, { code: "22023", message });
  }
  await owner`select uptuple.set_retention('hours', null)`;
  await assert.rejects(owner`select uptuple.set_retention('days', '10 years')`, {
    message: "keep is 10 years, and days must be kept at least as long as hours (for ever)",
  });
});

Deno.test("jobs and results go after the days that were set, and never where for ever was set", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await owner`select uptuple.ensure_partitions(${start - 50 * DAY}, ${start})`;

  assert.deepEqual(await applyRetention(owner), {
    partitions_dropped: 48 + 20,
    roll_ups_deleted: "0",
    notices_deleted: "0",
  });
  assert.deepEqual([await daysKept(owner, "job"), await daysKept(owner, "result")], [2, 30]);
  await owner`select uptuple.set_retention('results', '10 days')`;
  await applyRetention(owner);
  assert.deepEqual([await daysKept(owner, "job"), await daysKept(owner, "result")], [2, 10]);
  await owner`select uptuple.set_retention('days', null), uptuple.set_retention('hours', null)`;
  await owner`select uptuple.set_retention('results', null)`;
  await owner`select uptuple.set_retention('jobs', null)`;
  await owner`select uptuple.ensure_partitions(${start - 90 * DAY}, ${start})`;
  assert.equal((await applyRetention(owner)).partitions_dropped, 0);
});

Deno.test("a day stays until it is rolled up, with the last of its late results", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  const id = await addPastService(owner, "inventory", HOUR, start - 40 * DAY);
  await owner`select uptuple.ensure_partitions(${start - 40 * DAY}, ${start})`;
  await unroll(owner, start - 40 * DAY);

  assert.equal((await applyRetention(owner)).partitions_dropped, 0);
  await owner`update uptuple.roll_up_mark set rolled_until = ${start - 37 * DAY - HOUR}`;
  await applyRetention(owner);
  assert.deepEqual([await daysKept(owner, "job"), await daysKept(owner, "result")], [38, 38]);
  await rollUp(owner);
  await owner`insert into uptuple.unfinished_hour values (${id}, 'default', to_timestamp(${start - 35 * DAY}))`;
  await applyRetention(owner);
  assert.deepEqual(
    [await daysKept(owner, "job"), await daysKept(owner, "result")],
    [3, 31],
    "that of the unfinished hour as well",
  );
});

Deno.test("retention against a rebuild: what is being read stays, and goes with the next call", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await owner`select uptuple.ensure_partitions(${start - 32 * DAY}, ${start})`;
  await owner`update uptuple.roll_up_mark set rolled_from = ${start - 32 * DAY}`;
  const rebuilding = await database.connect();
  await rebuilding`begin`;
  await rebuilding`select uptuple.rebuild_roll_ups()`;

  assert.equal((await applyRetention(owner)).partitions_dropped, 0);
  await rebuilding`commit`;
  assert.equal((await applyRetention(owner)).partitions_dropped, 30 + 2);
});

Deno.test("where everything is in use, retention gives up after three waits, so that claims do not stall once for each day", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  await owner`select uptuple.ensure_partitions(${start - 32 * DAY}, ${start})`;
  const reader = await database.connect();
  await reader`begin`;
  await reader`select count(*) from uptuple.job`;
  await reader`select count(*) from uptuple.result`;
  const notices: (string | undefined)[] = [];
  const client = openClient(database.url, {
    maxConnections: 1,
    applicationName: "uptuple test",
    onNotice: ({ message }) => notices.push(message),
  });

  const [answer] = await client`select partitions_dropped from uptuple.apply_retention()`;
  await client.end();

  assert.equal(answer?.partitions_dropped, 0);
  assert.equal(notices.length, 3);
  assert.match(notices[0] ?? "", /^partition \w+ is in use and stays until the next call$/);
  await reader`commit`;
  assert.equal((await applyRetention(owner)).partitions_dropped, 30 + 2);
});

Deno.test("hours go after 400 days in batches, each only when its day has been added up; days stay for ever, or as long as was set", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const start = await today(owner);
  const id = await addPastService(owner, "inventory", HOUR, start);
  await owner`
    insert into uptuple.service_hour
    select ${id}, to_timestamp(${start} - n * ${HOUR}), 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 'default', '{}', '{}' from generate_series(1, 1500 * 24) n`;
  await owner`
    insert into uptuple.service_day (service_id, region, day, expected, up, degraded, down, inconclusive, missed, failed, canceled, latency_count, latency_sum_us, latency_buckets, latency_counts)
    select ${id}, 'default', (clock_timestamp() at time zone 'UTC')::date - n, 24, 24, 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}' from generate_series(1, 1500) n`;
  const kept = async () => {
    const [row] = await owner`
      select (select count(*)::integer from uptuple.service_hour) as hours, (select count(*)::integer from uptuple.service_day) as days`;
    return [row.hours, row.days];
  };

  await owner`update uptuple.roll_up_mark set rolled_from = ${start - 1500 * DAY}, rolled_until = ${
    start - 1490 * DAY + 5 * HOUR
  }`;
  assert.equal((await applyRetention(owner)).roll_ups_deleted, String(10 * 24));
  await owner`update uptuple.roll_up_mark set rolled_until = ${start}`;
  await applyRetention(owner);
  const [hours, days] = await kept();
  assert.ok(hours > 399 * 24 && hours <= 400 * 24, `${hours}`);
  assert.equal(days, 1500);
  await owner`select uptuple.set_retention('days', '1000 days')`;
  await applyRetention(owner);
  assert.deepEqual(await kept(), [hours, 1000]);
});

Deno.test("after a month without upkeep everything goes on without an error, and the history of the month is there", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 35 * DAY;
  const id = await addPastService(owner, "inventory", HOUR, start);
  const windows: PastWindow[] = [];
  for (let slot = start; slot < now - 31 * DAY; slot += HOUR) windows.push({ slot, status: "UP", latency: 9 });
  windows.push({ slot: start + 5 * DAY, job: "READY" }, { slot: start + 5 * DAY + HOUR, job: "READY", attempts: 2 });
  await writePast(owner, id, windows);
  await unroll(owner, start);
  await owner`update uptuple.enqueue_cursor set enqueued_until = ${now - 31 * DAY}`;

  assert.ok(await enqueue(owner) >= 1);
  await owner`select * from uptuple.sweep()`;
  await owner`select uptuple.ensure_partitions()`;
  await rollUp(owner);
  await applyRetention(owner);

  assert.deepEqual([await daysKept(owner, "job") <= 2, await daysKept(owner, "result") <= 30], [true, true]);
  const whole = await report(owner, "inventory", start, now - now % DAY);
  assert.deepEqual([whole.expected, whole.up, whole.down], [String(35 * 24), String(windows.length - 2), "0"]);
  assert.equal(await rollUp(owner), 0);
  await assertNoViolations(owner);
});

Deno.test("notices that were sent go after the time that was set, and with sweep as well", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addService(owner, "shop", { failureThreshold: 1 });
  await fail(owner, "shop");
  await recover(owner, "shop");
  await answerAll(owner, { status: 200 });
  await passTime(owner, "500 days");
  await owner`update uptuple.incident set closed_at = closed_at - interval '500 days'`;

  await owner`select uptuple.set_retention('notices', '501 days')`;
  await owner`select * from uptuple.sweep()`;
  assert.equal((await applyRetention(owner)).notices_deleted, "0");
  await owner`select uptuple.set_retention('notices', '499 days')`;
  assert.equal((await applyRetention(owner)).notices_deleted, "2");
});
