import assert from "node:assert/strict";
import { backendOf, untilBlocked } from "../../support/blocked.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addPastService,
  DAY,
  HOUR,
  nowSecond,
  type PastWindow,
  report,
  rolledUp,
  rollUp,
  unroll,
  writePast,
} from "../../support/history.ts";
import { ANSWERED, complete, REFUSED, startJob } from "../../support/services.ts";

/** The first epoch second of an hour that was over hours ago. */
async function pastHour(sql: TestSql, hoursAgo = 3): Promise<number> {
  const now = await nowSecond(sql);
  return now - now % HOUR - hoursAgo * HOUR;
}

/** The totals of one hour of the only service, without its key and latencies. */
async function totals(sql: TestSql, hour: number): Promise<Record<string, number> | undefined> {
  const [row] = await sql<Record<string, number>[]>`
    select expected, up, degraded, down, inconclusive, missed, failed, canceled from uptuple.service_hour where hour = to_timestamp(${hour})`;
  return row && { ...row };
}

async function rolledUntil(sql: TestSql): Promise<number> {
  const [mark] = await sql`select rolled_until::float8 from uptuple.roll_up_mark`;
  return mark.rolled_until;
}

/** Windows of a service, all with the same verdict. */
function windows(from: number, until: number, every: number, window: Omit<PastWindow, "slot">): PastWindow[] {
  const slots: PastWindow[] = [];
  for (let slot = from; slot < until; slot += every) slots.push({ slot, ...window });
  return slots;
}

Deno.test("an hour that is over is counted: what was expected, each verdict, each gap by its name, and how fast it was", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, [
    { slot: hour, status: "UP", latency: 10 },
    { slot: hour + 300, status: "UP", latency: 20.5 },
    { slot: hour + 600, status: "DEGRADED", latency: 900 },
    { slot: hour + 900, status: "DOWN", latency: 5000 },
    { slot: hour + 1200, status: "INCONCLUSIVE" },
    { slot: hour + 1500, job: "MISSED" },
    { slot: hour + 1800, job: "MISSED" },
    { slot: hour + 2100, job: "FAILED", attempts: 3 },
    { slot: hour + 2400, job: "CANCELED" },
    { slot: hour + 2700, status: "UP" },
  ]);
  await unroll(owner, hour);

  await rollUp(owner);

  assert.deepEqual(await totals(owner, hour), {
    expected: 12,
    up: 4,
    degraded: 1,
    down: 1,
    inconclusive: 1,
    missed: 2,
    failed: 1,
    canceled: 1,
  });
  const [latency] = await owner`
    select latency_count, latency_sum_us, latency_buckets, latency_counts from uptuple.service_hour where hour = to_timestamp(${hour})`;
  assert.deepEqual([latency.latency_count, latency.latency_sum_us], [3, "930500"]);
  assert.deepEqual(
    new Map(latency.latency_buckets.map((bucket: number, at: number) => [bucket, latency.latency_counts[at]])),
    new Map([[27, 1], [36, 1], [79, 1]]),
  );
});

Deno.test("checks outside the grid and records by hand count nowhere, nor do windows of a time in which the service was off", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, windows(hour, hour + HOUR, 300, { status: "UP", latency: 10 }));
  await owner`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, latency_ms, region, purpose, status)
    select ${hour} + n, ${id}, clock_timestamp(), 1, 7000, 'default', purpose, 'DOWN'
    from unnest('{FIRST,REQUEST,CONFIRM,MANUAL}'::text[]) with ordinality outside (purpose, n)`;
  await owner`
    update uptuple.service_active set during = tstzrange(to_timestamp(${hour + 600}), to_timestamp(${
    hour + 1500.5
  })) where service_id = ${id}`;
  await unroll(owner, hour);

  await rollUp(owner);

  const { expected, up, down } = await totals(owner, hour) ?? {};
  assert.deepEqual([expected, up, down], [4, 4, 0], "those at 600, 900, 1200 and 1500 s");
  assert.equal((await report(owner, "inventory", hour, hour + HOUR)).windows, "4");
});

Deno.test("an hour with two grids counts each in its own time", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await owner`update uptuple.service_active set during = tstzrange(lower(during), to_timestamp(${hour + 1800}))`;
  await owner`
    insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during)
    values (${id}, 'default', 60, 7, tstzrange(to_timestamp(${hour + 1800}), null))`;
  await writePast(owner, id, [
    ...windows(hour, hour + 1800, 300, { status: "UP" }),
    ...windows(hour + 1807, hour + HOUR, 60, { status: "DOWN" }),
  ]);
  await unroll(owner, hour);

  await rollUp(owner);

  const { expected, up, down } = await totals(owner, hour) ?? {};
  assert.deepEqual([expected, up, down], [36, 6, 30]);
});

Deno.test("rolled up again, or built anew, it is the same, and it is what the rows say", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const day = await nowSecond(owner) - 3 * DAY;
  const start = day - day % DAY;
  const id = await addPastService(owner, "inventory", 300, start);
  const other = await addPastService(owner, "orders", 900, start + 5 * HOUR);
  await writePast(owner, id, windows(start, start + 2 * DAY, 300, { status: "UP", latency: 31 }));
  await writePast(owner, id, [{ slot: start + 2 * DAY, job: "MISSED" }, {
    slot: start + 2 * DAY + 300,
    status: "DOWN",
  }]);
  await writePast(owner, other, windows(start + 5 * HOUR, start + 30 * HOUR, 900, { status: "DOWN", latency: 3 }));
  await unroll(owner, start);
  const counted = await rollUp(owner);
  const first = await rolledUp(owner);
  assert.equal(first.length - counted, 3 + 3, "the days of both services come on top");

  assert.equal(await rollUp(owner), 0);
  assert.deepEqual(await rolledUp(owner), first);

  await owner`update uptuple.service_hour set up = 0, degraded = 0, down = 1, missed = 1, latency_count = 0, latency_sum_us = 9`;
  await owner`update uptuple.service_day set up = 0, degraded = 0, latency_count = 0, latency_buckets = '{1}', latency_counts = '{8}'`;
  await owner`
    insert into uptuple.service_hour select (jsonb_populate_record(null::uptuple.service_hour, to_jsonb(old) || jsonb_build_object('service_id', ${other}::bigint))).*
    from uptuple.service_hour old where service_id = ${id} and hour = to_timestamp(${start})`;
  const [rebuilt] = await owner`select uptuple.rebuild_roll_ups() as counted`;
  assert.equal(Number(rebuilt.counted), counted);
  assert.deepEqual(await rolledUp(owner), first);
});

Deno.test("a part can be built anew, by whole days, and the rest stays as it was", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 3 * DAY;
  const id = await addPastService(owner, "inventory", 3600, start);
  await writePast(owner, id, windows(start, start + 3 * DAY, 3600, { status: "UP" }));
  await unroll(owner, start);
  await rollUp(owner);
  await owner`update uptuple.service_day set up = 0`;

  await owner`select uptuple.rebuild_roll_ups(to_timestamp(${start + DAY + 7 * HOUR}), to_timestamp(${
    start + DAY + 8 * HOUR
  }))`;

  const days = await owner<{ up: number }[]>`select up from uptuple.service_day order by day`;
  assert.deepEqual(days.map((day) => day.up), [0, 24, 0]);
});

Deno.test("what was dropped cannot be built anew, and asking for it changes nothing; gaps keep their names without their jobs", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 40 * DAY;
  const id = await addPastService(owner, "inventory", 3600, start);
  await writePast(owner, id, windows(start, start + 35 * DAY, 3600, { status: "UP" }));
  await writePast(owner, id, [{ slot: start + 35 * DAY, job: "MISSED" }]);
  await unroll(owner, start);
  await rollUp(owner);
  const before = await rolledUp(owner);
  await owner`select uptuple.drop_old_partitions()`;

  await assert.rejects(owner`select uptuple.rebuild_roll_ups(since => to_timestamp(${start}))`, {
    code: "UT002",
    message: /^since is .*, and there are results from .* on$/,
  });
  await owner`select uptuple.rebuild_roll_ups()`;

  assert.deepEqual(await rolledUp(owner), before);
});

Deno.test("an hour is over a minute after its end, and not before enqueueing has passed it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, windows(hour, hour + 3 * HOUR, 300, { status: "UP" }));
  await unroll(owner, hour);

  await owner`update uptuple.enqueue_cursor set enqueued_until = ${hour + 2 * HOUR - 2}`;
  await rollUp(owner);
  assert.equal(await rolledUntil(owner), hour + HOUR);
  await owner`update uptuple.enqueue_cursor set enqueued_until = ${hour + 2 * HOUR - 1}`;
  await rollUp(owner);
  assert.equal(await rolledUntil(owner), hour + 2 * HOUR);
  await owner`update uptuple.enqueue_cursor set enqueued_until = ${now + HOUR}`;
  await rollUp(owner);
  assert.ok(await rolledUntil(owner) <= await nowSecond(owner) - 60);
});

Deno.test("a result that comes after its hour was rolled up is in the reports at once, and in the roll-ups of hour and day with the next call", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - DAY;
  const id = await addPastService(owner, "inventory", 3600, start);
  await writePast(owner, id, windows(start, start + 3 * HOUR, 3600, { status: "UP", latency: 20 }));
  await unroll(owner, start);
  const late = await startJob(owner, id, start + 3 * HOUR);
  await rollUp(owner);
  const asked = () => report(owner, "inventory", start, start + 4 * HOUR);
  const { expected, up, down } = await asked();
  assert.deepEqual([expected, up, down], ["3", "3", "0"], "a window whose check is not finished is left out");

  assert.equal(await complete(owner, late, REFUSED), true);
  const afterwards = await asked();
  assert.deepEqual([afterwards.expected, afterwards.up, afterwards.down], ["4", "3", "1"]);
  assert.equal((await totals(owner, start + 3 * HOUR))?.down, 0, "the roll-up has not run yet");

  assert.equal(await rollUp(owner), 1);
  assert.equal((await totals(owner, start + 3 * HOUR))?.down, 1);
  const [day] =
    await owner`select expected, up, down from uptuple.service_day where day = (to_timestamp(${start}) at time zone 'UTC')::date`;
  assert.deepEqual({ ...day }, { expected: 24, up: 3, down: 1 });
  assert.deepEqual(await asked(), afterwards);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.unfinished_hour`], []);
});

Deno.test("a job that nobody can claim any more is a gap with a name, and its hour is settled", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner, 3 * 24);
  const id = await addPastService(owner, "inventory", 1200, hour);
  await writePast(owner, id, [
    { slot: hour, status: "UP" },
    { slot: hour + 1200, job: "READY" },
    { slot: hour + 2400, job: "READY", attempts: 1 },
  ]);
  await unroll(owner, hour);
  const raw = await owner<{ verdict: string | null; gap: string | null }[]>`
    select verdict, gap from uptuple.windows('inventory', to_timestamp(${hour}), to_timestamp(${hour + HOUR}))`;
  assert.deepEqual(raw.map(({ verdict, gap }) => verdict ?? gap), ["UP", "MISSED", "FAILED"]);

  await rollUp(owner);

  const { expected, up, missed, failed } = await totals(owner, hour) ?? {};
  assert.deepEqual([expected, up, missed, failed], [3, 1, 1, 1]);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.unfinished_hour`], []);
});

Deno.test("a window that gets its job by hand after its hour was rolled up is counted when that job has ended", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, windows(hour, hour + HOUR - 300, 300, { status: "UP" }));
  await unroll(owner, hour);
  await rollUp(owner);
  const asked = async () => (await report(owner, "inventory", hour, hour + HOUR)).up;

  await owner`select uptuple.note_late_window(${id}, 'default', ${hour + HOUR - 300})`;
  const job = await startJob(owner, id, hour + HOUR - 300);
  await rollUp(owner);
  assert.equal(await asked(), "11");
  await complete(owner, job, ANSWERED);
  assert.equal(await asked(), "12");
  await rollUp(owner);
  assert.equal((await totals(owner, hour))?.up, 12);
});

Deno.test("note against roll-up: a window that gets a job while its hour is being settled is noted again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, windows(hour, hour + HOUR - 300, 300, { status: "UP" }));
  await unroll(owner, hour);
  await rollUp(owner);
  await owner`select uptuple.note_late_window(${id}, 'default', ${hour})`;
  const byHand = await database.connect();
  const rolling = await database.connect();
  const rollingPid = await backendOf(rolling);

  await byHand`begin`;
  await byHand`select uptuple.note_late_window(${id}, 'default', ${hour + HOUR - 300})`;
  const job = await startJob(byHand, id, hour + HOUR - 300);
  const rolled = rolling`select uptuple.roll_up()`.execute();
  await untilBlocked(owner, rollingPid);
  await byHand`commit`;
  await rolled;

  await complete(owner, job, ANSWERED);
  assert.equal((await report(owner, "inventory", hour, hour + HOUR)).up, "12");
  await rollUp(owner);
  assert.equal((await totals(owner, hour))?.up, 12);
});

Deno.test("roll-up against roll-up: one works, the other does nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, windows(hour, hour + HOUR, 300, { status: "UP" }));
  await unroll(owner, hour);
  const first = await database.connect();

  await first`begin`;
  const [worked] = await first`select uptuple.roll_up() as counted`;
  const [skipped] = await owner`select uptuple.roll_up() as counted`;
  await first`commit`;

  assert.ok(Number(worked.counted) >= 2);
  assert.equal(skipped.counted, "0");
});

Deno.test("out of time, it stops between two lots of services, and the next call goes on where it was", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  await owner`
    insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
    select 'service ' || n, 3600, 0, 0, ${hour}, 3, 1 from generate_series(1, 5001) n`;
  await owner`insert into uptuple.service_state (service_id, region) select id, 'default' from uptuple.service`;
  await owner`
    insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during)
    select id, 'default', 3600, 0, tstzrange(to_timestamp(${hour}), to_timestamp(${hour + HOUR})) from uptuple.service`;
  await unroll(owner, hour);
  await owner`update uptuple.roll_up_mark set rolled_until = ${hour}`;

  const [first] = await owner`select uptuple.roll_up('0 s') as counted`;
  assert.deepEqual([first.counted, await rolledUntil(owner)], ["5000", hour]);
  assert.equal(
    (await report(owner, "service 1", hour, hour + HOUR)).expected,
    "1",
    "from the rows while the hour is not done",
  );
  const [second] = await owner`select uptuple.roll_up('0 s') as counted`;
  assert.deepEqual([second.counted, await rolledUntil(owner)], ["1", hour]);
  await owner`select uptuple.roll_up('0 s')`;

  assert.equal(await rolledUntil(owner), hour + HOUR);
  const [rows] =
    await owner`select count(*)::integer, count(distinct service_id)::integer as services from uptuple.service_hour`;
  assert.deepEqual({ ...rows }, { count: 5001, services: 5001 });

  await unroll(owner, hour);
  await owner`update uptuple.roll_up_mark set rolled_until = ${hour}`;
  await owner`update uptuple.service set interval_seconds = 1`;
  const [lot] = await owner`select uptuple.roll_up('0 s') as counted`;
  assert.equal(lot.counted, "112", "a lot is smaller where there are more windows");
  await assert.rejects(owner`select uptuple.roll_up('-1 s')`, {
    code: "22023",
    message: "at_most is -00:00:01, and must not be negative",
  });
});

Deno.test("after the clock was set back the hours that come again are counted again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await pastHour(owner);
  const id = await addPastService(owner, "inventory", 300, hour);
  await writePast(owner, id, windows(hour, hour + HOUR, 300, { status: "UP" }));
  await unroll(owner, hour);
  await owner`update uptuple.roll_up_mark set rolled_until = rolled_until + ${7 * DAY}`;

  await rollUp(owner);
  const now = await nowSecond(owner);
  assert.ok(await rolledUntil(owner) <= now);
  assert.ok(await rolledUntil(owner) > now - 2 * HOUR);
});

Deno.test("a roll-up as the role of tasks, with nothing to do and with a day to do", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - DAY;
  const id = await addPastService(owner, "inventory", 3600, start);
  await writePast(owner, id, windows(start, start + DAY, 3600, { status: "UP" }));
  const task = await database.connect();
  await task`set role uptuple_task`;

  await task`select uptuple.roll_up()`;
  await unroll(owner, start);
  await task`select uptuple.roll_up()`;
  await task`select * from uptuple.apply_retention()`;

  const [day] = await owner`select up from uptuple.service_day`;
  assert.equal(day.up, 24);
});

/**
 * How many rows of the tables of checks and roll-ups a statement reads, and which of them it reads from end to end. On a connection
 * of its own, whose counts are only this; what it changes is taken back.
 */
async function rowsRead(database: TestDatabase, statement: string): Promise<{ rows: number; whole: string[] }> {
  const fresh = await database.connect();
  await fresh`begin`;
  await fresh.unsafe(statement);
  const [read] = await fresh`
    select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as rows, coalesce(array_agg(relname) filter (where seq_scan > 0), '{}') as whole
    from pg_stat_xact_user_tables
    where schemaname = 'uptuple' and relname ~ '^(job|result|service_hour|service_day|service_active|unfinished)'`;
  await fresh`rollback`;
  return { rows: read.rows, whole: read.whole };
}

Deno.test("whatever the statistics say, an hour is rolled up and a report made from the rows that they are about, and no others", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  // The last midnight after which an hour is over.
  const today = now - (now - 120) % DAY - 120;
  const start = today - 20 * DAY;
  const id = await addPastService(owner, "inventory", 300, start);
  const ofAnHour = 12;
  const check = async (statistics: string) => {
    await owner`update uptuple.roll_up_mark set rolled_until = ${today - HOUR}`;
    const lastHour = `select uptuple.roll_up('0 s')`;
    const [uptime, bars] = [
      `select * from uptuple.uptime('inventory')`,
      `select * from uptuple.daily('inventory', 20)`,
    ];
    for (
      const [statement, most] of [
        // The results of the hour, and what the day is added up from, twice.
        [lastHour, 10 + ofAnHour + 2 * 24],
        // 24 hours, the rest of two more, and what is not rolled up.
        [uptime, 10 + 24 + ofAnHour + (now - today + HOUR + 600) / 300],
        [bars, 10 + 19 + 24 + (now - today + HOUR + 600) / 300],
      ] as const
    ) {
      const { rows, whole } = await rowsRead(database, statement);
      assert.deepEqual(whole, [], `${statement}, ${statistics}`);
      assert.ok(rows > 20 && rows <= most, `${statement}, ${statistics}: ${rows} rows, at most ${most}`);
    }
  };
  await owner`analyze`;
  await writePast(owner, id, windows(start, now - 600, 300, { status: "UP", latency: 5 }));
  await unroll(owner, start);
  await rollUp(owner);

  await check("analysed while empty");
  await owner`analyze`;
  await check("fresh");
  await owner`delete from uptuple.result where scheduled_slot % 3600 < 1800`;
  await owner`delete from uptuple.service_hour where extract(hour from hour) < 12`;
  await check("analysed while full");
});

Deno.test("roll-ups that fall behind are a problem, and none once they have caught up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'shop', url => 'http://127.0.0.1:1/')`;
  await owner`update uptuple.service set created_at = created_at - interval '1 day'`;
  const behind = () => owner`select severity, problem from uptuple.problems where problem like '%roll-ups%'`;
  await owner`
    update uptuple.roll_up_mark
    set rolled_from = rolled_from - 86400,
      rolled_until = (select enqueued_until - mod(enqueued_until, 3600) - 2 * 3600 from uptuple.enqueue_cursor)`;

  const [problem] = await behind();
  assert.equal(problem?.severity, "warning");
  assert.match(
    problem?.problem,
    /^Reports are slow: the roll-ups have come no further than \d{4}-\d\d-\d\dT\d\d:00:00\.000Z\.$/,
  );

  await owner`select uptuple.roll_up()`;
  assert.deepEqual([...await behind()], []);
});
