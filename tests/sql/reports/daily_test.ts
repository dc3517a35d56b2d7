import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addPastService,
  DAY,
  HOUR,
  nowSecond,
  type PastWindow,
  rollUp,
  unroll,
  writePast,
} from "../../support/history.ts";

/** One row of `daily`, as tests compare it. */
interface DailyRow {
  day: string;
  expected: string;
  up: string;
  down: string;
  gaps: string;
  uptime: string | null;
  coverage: string | null;
  p50: number | null;
  p95: number | null;
  down_seconds: number;
}

const dayOf = (second: number): string => new Date(second * 1000).toISOString().slice(0, 10);

Deno.test("the last days have a row each, today included: windows, latency, time in incidents, and nulls where nothing was expected", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const today = now - now % DAY;
  const start = today - 3 * DAY;
  const id = await addPastService(owner, "inventory", 3600, start);
  await owner`update uptuple.service_active set during = tstzrange(lower(during), to_timestamp(${today + 1}))`;
  const windows: PastWindow[] = [];
  for (let slot = start; slot < start + 2 * DAY; slot += HOUR) {
    const hour = slot % DAY / HOUR;
    if (slot >= start + DAY && hour < 6) windows.push({ slot, status: "DOWN", latency: 1 });
    else if (slot >= start + DAY && hour < 12) windows.push({ slot, job: "MISSED" });
    else windows.push({ slot, status: "UP", latency: hour === 23 ? 1000 : 100 });
  }
  await writePast(owner, id, [...windows, { slot: today, status: "UP", latency: 7 }]);
  await owner`
    insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order, closed_at, closed_by)
    values
      (${id}, 'default', to_timestamp(${start + DAY - 600}), to_timestamp(${start + DAY}), 1, to_timestamp(${
    start + DAY + HOUR
  }), 'recovered'),
      (${id}, 'default', to_timestamp(${start - 50 * DAY}), to_timestamp(${start - 50 * DAY}), 2, to_timestamp(${
    start - 49 * DAY
  }), 'recovered'),
      (${id}, 'default', to_timestamp(${today - 60}), to_timestamp(${today - 30}), 3, null, null)`;
  await unroll(owner, start);
  await rollUp(owner);

  const rows = await owner<
    DailyRow[]
  >`select day::text, expected, up, down, gaps, uptime, coverage, p50, p95, down_seconds from uptuple.daily('inventory', 5)`;

  const about = (actual: number | null | undefined, wanted: number) =>
    assert.ok(typeof actual === "number" && Math.abs(actual / wanted - 1) < 0.05, `${actual} is not about ${wanted}`);
  const [before, whole, half, empty, current] = rows;
  const counts = (row: DailyRow | undefined) =>
    row && [row.day, row.expected, row.up, row.down, row.gaps, row.uptime, row.coverage];
  assert.equal(rows.length, 5);
  assert.deepEqual(counts(before), [dayOf(start - DAY), "0", "0", "0", "0", null, null]);
  assert.deepEqual([before?.p50, before?.p95, before?.down_seconds], [null, null, 0]);
  assert.deepEqual(counts(whole), [dayOf(start), "24", "24", "0", "0", "1.000000", "1.000000"]);
  about(whole?.p50, 100);
  about(whole?.p95, 100);
  assert.equal(whole?.down_seconds, 600);
  assert.deepEqual(counts(half), [dayOf(start + DAY), "24", "12", "6", "6", "0.666667", "0.750000"]);
  about(half?.p50, 100);
  about(half?.p95, 1000);
  assert.equal(half?.down_seconds, HOUR);
  assert.deepEqual(counts(empty), [dayOf(start + 2 * DAY), "24", "0", "0", "24", null, "0.000000"]);
  assert.equal(empty?.down_seconds, 60);
  assert.deepEqual(counts(current), [dayOf(today), "1", "1", "0", "0", "1.000000", "1.000000"]);
  about(current?.p50, 7);
  assert.ok((current?.down_seconds ?? 0) >= now % DAY && (current?.down_seconds ?? 0) < now % DAY + 600);
});

Deno.test("daily, before anything is rolled up and after, is the same", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 4 * DAY;
  const id = await addPastService(owner, "inventory", 900, start + 1800);
  const windows: PastWindow[] = [];
  for (let slot = start + 1800; slot < now - 60; slot += 900) {
    windows.push({ slot, status: slot % 7 === 0 ? "DOWN" : "UP", latency: 10 + slot % 100 });
  }
  await writePast(owner, id, windows);
  const ask = async () =>
    (await owner<object[]>`select * from uptuple.daily('inventory', 6)`).map((row) => ({ ...row }));

  await unroll(owner, now + DAY);
  const fromRows = await ask();
  await unroll(owner, start);
  await rollUp(owner);

  assert.deepEqual(await ask(), fromRows);
});

Deno.test("the bars of all services are what daily says of each", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 2 * DAY;
  for (const name of ["inventory", "orders"]) {
    const id = await addPastService(owner, name, 7200, start);
    await writePast(owner, id, [{ slot: start, status: "UP" }, { slot: start + DAY, status: "DOWN" }]);
  }
  await unroll(owner, start);
  await rollUp(owner);
  const viewer = await database.connect("uptuple_viewer");

  const all = await viewer<
    object[]
  >`select service, day::text, expected, up, down, uptime, coverage from uptuple.daily_uptimes(30)`;
  const each = await viewer<object[]>`
    select each.service, daily.day::text, daily.expected, daily.up, daily.down, daily.uptime, daily.coverage
    from unnest('{inventory,orders}'::text[]) each (service)
    cross join uptuple.daily(each.service, 30) daily
    where daily.expected > 0
    order by each.service, daily.day`;

  assert.deepEqual(all.map((row) => ({ ...row })), each.map((row) => ({ ...row })));
  assert.equal(all.length, 2 * 3);
});

Deno.test("downtime is the part of the incidents that lies between two moments; an open one counts up to now", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const id = await addPastService(owner, "inventory", 60, now - DAY);
  await owner`
    insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order, closed_at, closed_by)
    values
      (${id}, 'default', to_timestamp(${now - 10 * HOUR}), to_timestamp(${now - 10 * HOUR}), 1, to_timestamp(${
    now - 8 * HOUR
  }), 'recovered'),
      (${id}, 'default', to_timestamp(${now - HOUR}), to_timestamp(${now - HOUR}), 2, null, null)`;
  const ask = async (since: number, until: number) => {
    const [row] = await owner`
      select incidents, extract(epoch from down_for)::float8 as seconds
      from uptuple.downtime('inventory', to_timestamp(${since}), to_timestamp(${until}))`;
    return [row.incidents, row.seconds];
  };

  assert.deepEqual(await ask(now - 9 * HOUR, now - 1800), ["2", HOUR + 1800]);
  assert.deepEqual(await ask(now - 7 * HOUR, now - 6 * HOUR), ["0", 0]);
  const [, open] = await ask(now - 2 * HOUR, now + DAY);
  assert.ok(open >= HOUR && open < HOUR + 60);
});

Deno.test("the number of days must make sense", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addPastService(owner, "inventory", 60, 0);

  for (const call of ["daily('inventory', 0)", "daily('inventory', null)", "daily_uptimes(4000)"]) {
    await assert.rejects(owner.unsafe(`select * from uptuple.${call}`), {
      code: "22023",
      message: /^days is (0|null|4000), and must be between 1 and 3660$/,
    });
  }
});
