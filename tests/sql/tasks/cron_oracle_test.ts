import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";

/** A minute on a wall clock. */
interface WallClock {
  minute: number;
  hour: number;
  day: number;
  /** 1 to 12. */
  month: number;
  /** Sunday is 0. */
  weekday: number;
  /** Days of its month. */
  daysOfMonth: number;
}

/** An expression, and by hand what it means. */
interface Meaning {
  expression: string;
  /** Neither minute nor hour starts with a star. */
  fixed: boolean;
  matches(clock: WallClock): boolean;
}

const MEANINGS: Meaning[] = [
  { expression: "30 2 * * *", fixed: true, matches: ({ minute, hour }) => minute === 30 && hour === 2 },
  {
    expression: "15,45 0-3 * * *",
    fixed: true,
    matches: ({ minute, hour }) => (minute === 15 || minute === 45) && hour <= 3,
  },
  {
    expression: "0 22,23 * * SAT,SUN",
    fixed: true,
    matches: ({ minute, hour, weekday }) => minute === 0 && hour >= 22 && (weekday === 6 || weekday === 0),
  },
  {
    expression: "30 0 L * *",
    fixed: true,
    matches: ({ minute, hour, day, daysOfMonth }) => minute === 30 && hour === 0 && day === daysOfMonth,
  },
  {
    expression: "10 1 13 * FRI",
    fixed: true,
    matches: ({ minute, hour, day, weekday }) => minute === 10 && hour === 1 && (day === 13 || weekday === 5),
  },
  {
    expression: "*/30 1-2 * * *",
    fixed: false,
    matches: ({ minute, hour }) => minute % 30 === 0 && (hour === 1 || hour === 2),
  },
  {
    expression: "0 * * * FRI-SUN",
    fixed: false,
    matches: ({ minute, weekday }) => minute === 0 && (weekday >= 5 || weekday === 0),
  },
  { expression: "7 */6 * * *", fixed: false, matches: ({ minute, hour }) => minute === 7 && hour % 6 === 0 },
  {
    expression: "*/5 3 * 3,10,11 SUN",
    fixed: false,
    matches: ({ minute, hour, month, weekday }) =>
      minute % 5 === 0 && hour === 3 && [3, 10, 11].includes(month) && weekday === 0,
  },
];

/** Zones, each with a year in which its clocks did what makes it worth having here. */
const YEARS: [zone: string, year: number][] = [
  ["America/New_York", 2024],
  ["Europe/London", 2024],
  ["Europe/Riga", 2021],
  ["Asia/Amman", 2018],
  ["Africa/Cairo", 2024],
  ["America/Santiago", 2023],
  ["America/Havana", 2024],
  ["America/Sao_Paulo", 2018],
  ["America/Nuuk", 2024],
  ["Antarctica/Troll", 2024],
  ["Australia/Lord_Howe", 2024],
  ["Pacific/Apia", 2011],
  ["Asia/Kolkata", 2024],
  ["UTC", 2024],
];

const HOUR = 60;
const DAY = 24 * HOUR;

/** Minutes since the epoch, as the zone's clocks show them, at an instant in minutes since the epoch. */
function clockReader(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  return (instant) => {
    const shown = Object.fromEntries(
      format.formatToParts(instant * 60_000).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = shown;
    return Date.UTC(year, month - 1, day, hour, minute) / 60_000;
  };
}

/** What the clocks show at each minute of a stretch of time. Only in an hour that is not one, each minute is looked at. */
function shownTimes(zone: string, start: number, end: number): number[] {
  const read = clockReader(zone);
  const shown: number[] = [];
  for (let hour = start; hour < end; hour += HOUR) {
    const first = read(hour);
    const even = read(hour + HOUR) - first === HOUR;
    for (let minute = 0; minute < HOUR; minute++) shown.push(even ? first + minute : read(hour + minute));
  }
  return shown;
}

/** Every minute of a local calendar, from one local time to another. */
function calendar(from: number, to: number): WallClock[] {
  const clocks: WallClock[] = [];
  for (let day = Math.floor(from / DAY) * DAY; day <= to; day += DAY) {
    const date = new Date(day * 60_000);
    const month = date.getUTCMonth() + 1;
    const shared = {
      day: date.getUTCDate(),
      month,
      weekday: date.getUTCDay(),
      daysOfMonth: new Date(Date.UTC(date.getUTCFullYear(), month, 0)).getUTCDate(),
    };
    for (let minute = 0; minute < DAY; minute++) {
      const local = day + minute;
      if (local >= from && local <= to) {
        clocks.push({ ...shared, hour: Math.floor(minute / HOUR), minute: minute % HOUR });
      }
    }
  }
  return clocks;
}

/**
 * Walks through every minute of real time. A fixed time fires at the first minute at which the clocks have reached it: what
 * they jumped over fires where they land, what they show a second time does not. Anything else fires whenever they show it.
 *
 * @param shown What the clocks show, minute by minute.
 * @param clocks The local calendar from the first of these on.
 * @returns In minutes from the first.
 */
function firesByBruteForce({ fixed, matches }: Meaning, shown: number[], clocks: WallClock[]): number[] {
  const first = shown[0] ?? 0;
  const fires: number[] = [];
  let reached = -1;
  for (const [minute, local] of shown.entries()) {
    const at = local - first;
    let due = !fixed && matches(clocks[at] as WallClock);
    for (; fixed && reached < at; reached++) due ||= matches(clocks[reached + 1] as WallClock);
    if (due) fires.push(minute);
  }
  return fires;
}

Deno.test("a year of fires is what walking through each of its minutes gives, in zones of every kind", async () => {
  await using database = await testDatabase();
  const sessions = [await database.connect(), await database.connect()];
  const years = [...YEARS];

  await Promise.all(sessions.map(async (session) => {
    for (let next = years.pop(); next !== undefined; next = years.pop()) {
      const [zone, year] = next;
      const start = Date.UTC(year, 0, 1) / 60_000;
      const end = Date.UTC(year + 1, 0, 1) / 60_000;
      const shown = shownTimes(zone, start, end);
      const clocks = calendar(shown[0] ?? 0, Math.max(...shown.slice(-2 * DAY)));
      for (const meaning of MEANINGS) {
        const expected = firesByBruteForce(meaning, shown, clocks).map((minute) => (start + minute) * 60);
        const [row] = await session`
          select array_agg(extract(epoch from fire)::float8 order by fire) as fires
          from uptuple.cron_upcoming(
            ${meaning.expression}, ${zone}, to_timestamp(${start * 60 - 1}), ${expected.length + 1}
          ) fire`;
        const afterwards = row.fires.pop();
        assert.deepEqual(row.fires, expected, `${meaning.expression} in ${zone} in ${year}`);
        assert.ok(afterwards >= end * 60, `${meaning.expression} in ${zone} in ${year} fires too rarely`);
      }
    }
  }));
});
