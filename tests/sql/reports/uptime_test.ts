import assert from "node:assert/strict";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
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
import { type Chance, chanceFrom } from "../../support/random.ts";

/** What becomes of a window by chance; nothing at all in a few cases. */
function byChance(chance: Chance, slot: number): PastWindow {
  if (chance.percent(4)) return { slot };
  if (chance.percent(4)) return { slot, job: chance.pick(["MISSED", "FAILED", "CANCELED"] as const) };
  if (chance.percent(3)) return { slot, status: "INCONCLUSIVE" };
  if (chance.percent(10)) return { slot, status: "DOWN", latency: chance.below(20_000) };
  const latency = Math.exp(2 + chance.below(1000) / 250);
  return { slot, status: chance.percent(20) ? "DEGRADED" : "UP", ...(chance.percent(95) ? { latency } : {}) };
}

/** Windows of a service, and how many there are of each kind between two moments, counted here. */
class History {
  windows: PastWindow[] = [];
  constructor(readonly name: string, readonly id: string) {}
  count(since: number, until: number): { expected: string; up: string; down: string } {
    const within = this.windows.filter(({ slot }) => slot >= since && slot < until);
    const of = (...statuses: (string | undefined)[]) =>
      String(within.filter(({ status }) => statuses.includes(status)).length);
    return { expected: String(within.length), up: of("UP", "DEGRADED"), down: of("DOWN") };
  }
}

/**
 * Three days of three services by chance: one as usual, one whose interval changes within an hour and that is off for a while, one
 * with a window every three hours.
 */
async function threeDays(sql: TestSql, chance: Chance, start: number, until: number): Promise<History[]> {
  const histories: History[] = [];
  const add = async (name: string, grids: { from: number; until: number; every: number }[]) => {
    const id = await addPastService(sql, name, grids[0]?.every ?? 60, start);
    await sql`delete from uptuple.service_active where service_id = ${id}`;
    const history = new History(name, id);
    for (const grid of grids) {
      await sql`
        insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during)
        values (${id}, 'default', ${grid.every}, 0, tstzrange(to_timestamp(${grid.from}), to_timestamp(${grid.until})))`;
      const first = Math.ceil(grid.from / grid.every) * grid.every;
      for (let slot = first; slot < grid.until; slot += grid.every) history.windows.push(byChance(chance, slot));
    }
    await writePast(sql, id, history.windows);
    histories.push(history);
  };
  await add("usual", [{ from: start, until, every: 60 }]);
  const changed = start + 20 * HOUR + 1234;
  const off = start + 40 * HOUR + 77;
  await add("changed", [
    { from: start + 500, until: changed, every: 300 },
    { from: changed, until: off, every: 90 },
    { from: off + 9 * HOUR, until, every: 45 },
  ]);
  await add("rare", [{ from: start, until, every: 3 * HOUR }]);
  return histories;
}

async function spanOfThreeDays(database: TestDatabase): Promise<{ start: number; until: number }> {
  const now = await nowSecond(database.owner);
  return { start: now - now % DAY - 3 * DAY, until: now - 5 };
}

Deno.test("from roll-ups, from rows, and from both, a report is the same: of any stretch of three days of chance", async () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const chance = chanceFrom(seed);
  await using database = await emptiedDatabase();
  const { owner } = database;
  const { start, until } = await spanOfThreeDays(database);
  const histories = await threeDays(owner, chance, start, until);
  const stretches = Array.from({ length: 25 }, () => {
    const [one, other] = [start + chance.below(until - start), start + chance.below(until - start)];
    const round = chance.pick([1, 1, HOUR, DAY]);
    return [
      Math.floor(Math.min(one, other) / round) * round,
      Math.floor(Math.max(one, other) / round) * round,
    ] as const;
  });
  const ask = async () => {
    const answers = [];
    for (const { name } of histories) {
      for (const [from, to] of stretches) answers.push(await report(owner, name, from, to));
    }
    return answers;
  };

  await unroll(owner, until + DAY);
  const fromRows = await ask();
  await unroll(owner, start);
  await rollUp(owner);
  const fromRollUps = await ask();
  await owner`update uptuple.roll_up_mark set rolled_until = ${start + DAY + 7 * HOUR}`;
  const fromBoth = await ask();

  const counted = histories.flatMap((history) => stretches.map(([from, to]) => history.count(from, to)));
  assert.deepEqual(fromRows.map(({ expected, up, down }) => ({ expected, up, down })), counted, `seed ${seed}`);
  assert.deepEqual(fromRollUps, fromRows, `seed ${seed}`);
  assert.deepEqual(fromBoth, fromRows, `seed ${seed}`);
});

Deno.test("with the unfinished among the days and hours, only what they belong to is taken from the rows, and the sum stays", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const { start, until } = await spanOfThreeDays(database);
  const [history] = await threeDays(owner, chanceFrom(7), start, until);
  assert.ok(history);
  await unroll(owner, start);
  await rollUp(owner);
  const before = await report(owner, history.name, start + 100, until);
  // Wrong on purpose, so that a report that takes it shows.
  for (const hour of [start + 5 * HOUR, start + 30 * HOUR]) {
    await owner`
      update uptuple.service_hour set expected = 100000 where service_id = ${history.id} and hour = to_timestamp(${hour})`;
    await owner`
      update uptuple.service_day set expected = 100000
      where service_id = ${history.id} and day = (to_timestamp(${hour}) at time zone 'UTC')::date`;
    await owner`
      insert into uptuple.unfinished_hour (service_id, region, hour) values (${history.id}, 'default', to_timestamp(${hour}))`;
  }

  assert.deepEqual(await report(owner, history.name, start + 100, until), before);
});

Deno.test("90 days come from days, as far as they are kept, when the checks of most of them have been dropped", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 95 * DAY;
  const id = await addPastService(owner, "inventory", 3600, start);
  const windows: PastWindow[] = [];
  for (let slot = start; slot < now; slot += 3600) {
    windows.push({ slot, status: slot % DAY === 0 ? "DOWN" : "UP", latency: 20 });
  }
  await writePast(owner, id, windows);
  await unroll(owner, start);
  await rollUp(owner);
  const since = start + 5 * DAY + 600;
  const whole = await report(owner, "inventory", since, now);
  await owner`select uptuple.set_retention('results', '3 days')`;
  await owner`select * from uptuple.apply_retention()`;
  const [kept] =
    await owner`select count(*)::integer as days from pg_inherits where inhparent = 'uptuple.result'::regclass`;
  assert.ok(kept.days < 20);

  assert.deepEqual(await report(owner, "inventory", since, now), whole);
  await owner`delete from uptuple.service_hour where hour < to_timestamp(${now - 10 * DAY})`;
  const byDays = await report(owner, "inventory", since, now);
  assert.equal(
    Number(whole.expected) - Number(byDays.expected),
    23,
    "the rest of the first day, of which there are no hours",
  );
});

Deno.test("a part of an hour whose results were dropped is left out, and not counted as a gap", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 40 * DAY;
  const id = await addPastService(owner, "inventory", 600, start);
  const windows: PastWindow[] = [];
  for (let slot = start; slot < start + DAY; slot += 600) windows.push({ slot, status: "UP" });
  await writePast(owner, id, windows);
  await unroll(owner, start);
  await rollUp(owner);
  await owner`select uptuple.drop_old_partitions()`;

  const part = await report(owner, "inventory", start + 900, start + 2 * HOUR + 900);

  assert.deepEqual([part.expected, part.up, part.coverage], ["6", "6", "1.000000"]);
});

Deno.test("the view of all services says what uptime says of each, also of one that was never checked", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const { start, until } = await spanOfThreeDays(database);
  await threeDays(owner, chanceFrom(11), start, until);
  await addPastService(owner, "new", 86400, until + DAY);
  await unroll(owner, start);
  await rollUp(owner);
  const viewer = await database.connect("uptuple_viewer");

  const shown = await viewer<object[]>`select * from uptuple.uptimes(to_timestamp(${start + 99}), to_timestamp(${
    until - 99
  })) order by service`;
  const single = await viewer<object[]>`
    select each.service, uptime.*
    from unnest('{changed,new,rare,usual}'::text[]) each (service)
    cross join uptuple.uptime(each.service, to_timestamp(${start + 99}), to_timestamp(${until - 99})) uptime
    order by each.service`;
  const [coverage] = await viewer`select expected from uptuple.coverage where service = 'new'`;

  assert.deepEqual(shown.map((row) => ({ ...row })), single.map((row) => ({ ...row })));
  assert.equal(shown.length, 4);
  assert.equal(coverage.expected, "0");
});

Deno.test("a report can be asked for all time, for no time, and for what is to come", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await nowSecond(owner) - 2 * HOUR;
  const id = await addPastService(owner, "inventory", 600, hour - hour % HOUR);
  await writePast(owner, id, [{ slot: hour - hour % HOUR, status: "UP", latency: 5 }]);
  await unroll(owner, hour);
  await rollUp(owner);
  const up = async (since: string, until: string) => {
    const [row] =
      await owner`select up from uptuple.uptime('inventory', ${since}::text::timestamptz, ${until}::text::timestamptz)`;
    return row.up;
  };

  assert.equal(await up("-infinity", "infinity"), "1");
  assert.equal(await up("infinity", "-infinity"), "0");
  assert.equal(await up("2100-01-01", "infinity"), "0");
  assert.equal(await up("-infinity", "1970-01-01"), "0");
});
