import assert from "node:assert/strict";
import { type TestDatabase, testDatabase } from "../../support/database.ts";

let shared: Promise<TestDatabase> | undefined;

Deno.test.afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]();
});

/** A daily window on some days, as its first and last instant in UTC. */
async function spans(zone: string, from: string, until: string, ...days: string[]): Promise<string[]> {
  const { owner } = await (shared ??= testDatabase());
  const rows = await owner<{ span: string }[]>`
    select to_char(lower(span) at time zone 'UTC', 'MM-DD HH24:MI') || ' to ' || to_char(upper(span) at time zone 'UTC', 'MM-DD HH24:MI') as span
    from unnest(${days}::date[]) with ordinality given (day, position)
    cross join lateral uptuple.clock_span(day, ${from}::time, ${until}::time, ${zone}) span
    order by position`;
  return rows.map(({ span }) => span);
}

Deno.test("where clocks go forward, maintenance starts at the first instant after the gap and ends by the clock", async () => {
  assert.deepEqual(await spans("Europe/Berlin", "02:30", "03:30", "2026-03-28", "2026-03-29", "2026-03-30"), [
    "03-28 01:30 to 03-28 02:30",
    "03-29 01:00 to 03-29 01:30",
    "03-30 00:30 to 03-30 01:30",
  ]);
});

Deno.test("where clocks go back, maintenance runs from the first of two to the last of two", async () => {
  assert.deepEqual(await spans("Europe/Berlin", "02:30", "03:30", "2026-10-24", "2026-10-25", "2026-10-26"), [
    "10-24 00:30 to 10-24 01:30",
    "10-25 00:30 to 10-25 02:30",
    "10-26 01:30 to 10-26 02:30",
  ]);
  assert.deepEqual(await spans("Europe/Berlin", "02:15", "02:45", "2026-10-25"), ["10-25 00:15 to 10-25 01:45"]);
  assert.deepEqual(await spans("Europe/Berlin", "01:30", "02:30", "2026-10-25"), ["10-24 23:30 to 10-25 01:30"]);
  assert.deepEqual(await spans("America/New_York", "01:30", "03:00", "2026-11-01"), ["11-01 05:30 to 11-01 08:00"]);
});

Deno.test("a clock that changes by half an hour is followed too", async () => {
  assert.deepEqual(await spans("Australia/Lord_Howe", "01:45", "02:15", "2026-04-04", "2026-04-05", "2026-04-06"), [
    "04-03 14:45 to 04-03 15:15",
    "04-04 14:45 to 04-04 15:45",
    "04-05 15:15 to 04-05 15:45",
  ]);
  assert.deepEqual(await spans("Australia/Lord_Howe", "02:15", "03:00", "2026-10-03", "2026-10-04", "2026-10-05"), [
    "10-02 15:45 to 10-02 16:30",
    "10-03 15:30 to 10-03 16:00",
    "10-04 15:15 to 10-04 16:00",
  ]);
});

Deno.test("in a zone without summer time midnight is midnight on every day", async () => {
  assert.deepEqual(await spans("Australia/Perth", "00:00", "01:00", "2026-03-28", "2026-03-29", "2026-10-25"), [
    "03-27 16:00 to 03-27 17:00",
    "03-28 16:00 to 03-28 17:00",
    "10-24 16:00 to 10-24 17:00",
  ]);
});

Deno.test("maintenance that lies wholly in the gap lasts as long as it is written, from the gap's end", async () => {
  assert.deepEqual(await spans("Europe/Berlin", "02:15", "02:45", "2026-03-29"), ["03-29 01:00 to 03-29 01:30"]);
  assert.deepEqual(await spans("Europe/Berlin", "02:00", "03:00", "2026-03-29"), ["03-29 01:00 to 03-29 02:00"]);
});

Deno.test("an end that is not later than the start is on the next day", async () => {
  assert.deepEqual(await spans("Europe/Berlin", "23:00", "01:00", "2026-12-31"), ["12-31 22:00 to 01-01 00:00"]);
  assert.deepEqual(await spans("Europe/Berlin", "00:00", "00:00", "2026-10-25"), ["10-24 22:00 to 10-25 23:00"]);
  assert.deepEqual(await spans("Europe/Berlin", "22:00", "24:00", "2026-06-01"), ["06-01 20:00 to 06-01 22:00"]);
});

Deno.test("an oracle of the zone's clocks agrees: the first instant that shows the start and the last that shows the end", async () => {
  const { owner } = await (shared ??= testDatabase());
  // Minute by minute over the days on which clocks change: what a person reads off the wall.
  const rows = await owner<{ zone: string; day: string; from: string; until: string }[]>`
    with change (zone, day) as (
      values ('Europe/Berlin', date '2026-03-29'), ('Europe/Berlin', '2026-10-25'), ('America/New_York', '2026-03-08'),
        ('America/New_York', '2026-11-01'), ('Australia/Lord_Howe', '2026-04-05'), ('Australia/Lord_Howe', '2026-10-04'),
        ('Europe/Dublin', '2026-10-25'), ('America/Sao_Paulo', '2018-11-04'), ('Asia/Beirut', '2026-03-29')
    ),
    wall as (
      select zone, day, instant, instant at time zone zone as shows
      from change
      cross join lateral generate_series((day::timestamp - interval '1 day') at time zone 'UTC', (day::timestamp + interval '3 days') at time zone 'UTC', interval '1 minute') instant
    ),
    asked as (
      select zone, day, make_time(from_minute / 60, mod(from_minute, 60), 0) as from_time,
        make_time((from_minute + 75) / 60, mod(from_minute + 75, 60), 0) as until_time
      from change, generate_series(0, 285, 15) from_minute
    )
    select asked.zone, asked.day::text, asked.from_time::text as from, asked.until_time::text as until
    from asked
    cross join lateral uptuple.clock_span(asked.day, asked.from_time, asked.until_time, asked.zone) span
    cross join lateral (
      select min(instant) filter (where shows >= asked.day + asked.from_time) as starts_at
      from wall
      where wall.zone = asked.zone and wall.day = asked.day
    ) first
    cross join lateral (
      select coalesce(
        max(instant) filter (where shows = asked.day + asked.until_time),
        min(instant) filter (where shows >= asked.day + asked.until_time)
      ) as ends_at
      from wall
      where wall.zone = asked.zone and wall.day = asked.day
    ) last
    where lower(span) <> first.starts_at
      or upper(span) <> case when last.ends_at > first.starts_at then last.ends_at else first.starts_at + interval '75 minutes' end`;
  assert.deepEqual([...rows], []);
});
