import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
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
import { chanceFrom } from "../../support/random.ts";
import { addService } from "../../support/services.ts";

const MINUTE = 60;

/** Plans maintenance between two epoch seconds. */
async function planned(sql: TestSql, services: string[], since: number, until: number): Promise<void> {
  await sql`
    select uptuple.plan_maintenance(services => ${services}, starts_at => to_timestamp(${since}), ends_at => to_timestamp(${until}))`;
}

Deno.test("windows in maintenance are neither expected nor up nor down, and their latencies do not count", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const start = Math.floor(await nowSecond(owner) / HOUR) * HOUR - 2 * HOUR;
  const id = await addPastService(owner, "shop", MINUTE, start);
  await unroll(owner, start);
  const windows: PastWindow[] = [];
  for (let slot = start; slot < start + HOUR; slot += MINUTE) {
    const within = slot >= start + 10 * MINUTE && slot < start + 30 * MINUTE;
    windows.push({ slot, status: within ? (slot % 120 === 0 ? "DOWN" : "UP") : "UP", latency: within ? 9000 : 10 });
  }
  await writePast(owner, id, windows);
  // From between two windows to between two windows.
  await planned(owner, ["shop"], start + 10 * MINUTE - 0.5, start + 29 * MINUTE + 0.5);

  const { expected, up, down, uptime, coverage, mean } = await report(owner, "shop", start, start + HOUR);
  const [listed] = await owner`
    select count(*)::integer as count from uptuple.windows('shop', to_timestamp(${start}), to_timestamp(${
    start + HOUR
  }))`;

  assert.deepEqual({ expected, up, down, uptime, coverage, mean }, {
    expected: "40",
    up: "40",
    down: "0",
    uptime: "1.000000",
    coverage: "1.000000",
    mean: 10,
  });
  assert.equal(listed.count, 40);
});

Deno.test("downtime is what of incidents lies outside of maintenance", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await addService(owner, "shop");
  const today = Math.floor(await nowSecond(owner) / DAY) * DAY - 2 * DAY;
  for (const [since, until] of [[0, 2 * HOUR], [4 * HOUR, 5 * HOUR], [23 * HOUR, 26 * HOUR]] as const) {
    await owner`
      insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order, closed_at, closed_by)
      values (${id}, 'default', to_timestamp(${today + since}), to_timestamp(${today + since}), 1, to_timestamp(${
      today + until
    }), 'recovered')`;
  }
  await planned(owner, ["shop"], today + HOUR, today + 90 * MINUTE);
  await planned(owner, ["shop"], today + 80 * MINUTE, today + 3 * HOUR);
  await planned(owner, ["shop"], today + 4 * HOUR, today + 5 * HOUR);
  await planned(owner, ["shop"], today + 23.5 * HOUR, today + 25 * HOUR);

  const [total] = await owner`
    select incidents, extract(epoch from down_for)::integer as seconds
    from uptuple.downtime('shop', to_timestamp(${today}), to_timestamp(${today + 2 * DAY}))`;
  const days = await owner`select down_seconds from uptuple.daily('shop', 3)`;

  assert.deepEqual({ ...total }, { incidents: "2", seconds: HOUR + HOUR / 2 + HOUR });
  assert.deepEqual(days.map((row) => row.down_seconds), [HOUR + HOUR / 2, HOUR, 0]);
});

Deno.test("maintenance that is planned afterwards corrects what has been rolled up", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const start = Math.floor(await nowSecond(owner) / DAY) * DAY - DAY;
  const shop = await addPastService(owner, "shop", 5 * MINUTE, start);
  const blog = await addPastService(owner, "blog", 5 * MINUTE, start);
  await unroll(owner, start);
  for (const id of [shop, blog]) {
    const slots = Array.from({ length: DAY / 300 }, (_, number) => start + number * 300);
    await writePast(
      owner,
      id,
      slots.map((slot) => ({ slot, status: slot < start + 2 * HOUR ? "DOWN" : "UP", latency: 5 })),
    );
  }
  await rollUp(owner);
  assert.equal((await report(owner, "shop", start, start + DAY)).down, "24");

  await planned(owner, ["shop"], start + 30 * MINUTE, start + 2 * HOUR);
  const before = await report(owner, "shop", start, start + DAY);
  await rollUp(owner);
  const after = await report(owner, "shop", start, start + DAY);

  assert.deepEqual([before.expected, before.up, before.down], ["270", "264", "6"]);
  assert.deepEqual(after, before);
  assert.deepEqual([...await owner`select * from uptuple.unfinished_hour`], []);
  assert.equal((await report(owner, "blog", start, start + DAY)).down, "24");
});

Deno.test("a report of the past does not change with the group, or with what the maintenance covers later", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const start = Math.floor(await nowSecond(owner) / HOUR) * HOUR - 3 * HOUR;
  const id = await addPastService(owner, "shop", MINUTE, start);
  await unroll(owner, start);
  await owner`select uptuple.update_service('shop', group_name => 'web')`;
  await owner`delete from uptuple.service_membership where group_name is null`;
  await owner`update uptuple.service_membership set during = tstzrange(null, null)`;
  await writePast(
    owner,
    id,
    Array.from({ length: 120 }, (_, number) => ({ slot: start + number * MINUTE, status: "DOWN" as const })),
  );
  await owner`
    select uptuple.plan_maintenance(groups => '{web}', starts_at => to_timestamp(${start}), ends_at => clock_timestamp() + interval '1 hour')`;
  const before = await report(owner, "shop", start, start + 2 * HOUR);

  await owner`select uptuple.update_service('shop', group_name => '')`;
  await owner`select uptuple.change_maintenance(1, groups => '{mail}')`;
  await owner`select uptuple.cancel_maintenance(1)`;

  assert.equal(before.expected, "0");
  assert.deepEqual(await report(owner, "shop", start, start + 2 * HOUR), before);
});

for (const seed of [3, 4]) {
  Deno.test(`counted here, window by window, reports and roll-ups leave the same ones out (seed ${seed})`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    const chance = chanceFrom(seed);
    const start = Math.floor(await nowSecond(owner) / DAY) * DAY - 2 * DAY;
    const until = start + 2 * DAY;
    const id = await addPastService(owner, "shop", 5 * MINUTE, start);
    await unroll(owner, start);
    const windows: PastWindow[] = [];
    for (let slot = start; slot < until; slot += 5 * MINUTE) {
      if (chance.percent(95)) {
        windows.push({ slot, status: chance.percent(30) ? "DOWN" : "UP", latency: chance.below(500) });
      }
    }
    await writePast(owner, id, windows);
    const spans = Array.from({ length: 12 }, () => {
      const since = start - HOUR + chance.below(2 * DAY);
      return { since, until: since + 1 + chance.below(3 * HOUR) };
    });
    const half = chance.percent(50) ? 6 : 0;
    for (const span of spans.slice(0, half)) await planned(owner, ["shop"], span.since, span.until);
    await rollUp(owner);
    for (const span of spans.slice(half)) await planned(owner, ["shop"], span.since, span.until);

    const counted = (since: number, until: number) => {
      const free = (slot: number) =>
        slot >= since && slot < until && !spans.some((span) => slot >= span.since && slot < span.until);
      const slots = Array.from({ length: 2 * DAY / 300 }, (_, number) => start + number * 300).filter(free);
      const verdicts = windows.filter(({ slot }) => free(slot));
      return {
        expected: String(slots.length),
        up: String(verdicts.filter(({ status }) => status === "UP").length),
        down: String(verdicts.filter(({ status }) => status === "DOWN").length),
      };
    };
    const stretches = Array.from({ length: 20 }, () => {
      const since = start + chance.below(2 * DAY);
      return [since, Math.min(until, since + chance.below(DAY))] as const;
    });
    for (const when of ["before they are counted anew", "after it"]) {
      for (const [since, end] of [[start, until] as const, ...stretches]) {
        const { expected, up, down } = await report(owner, "shop", since, end);
        assert.deepEqual({ expected, up, down }, counted(since, end), `${when}, from ${since} to ${end}`);
      }
      await rollUp(owner);
    }
    const once = await rolledUp(owner);
    await owner`select uptuple.rebuild_roll_ups()`;
    assert.deepEqual(await rolledUp(owner), once);
  });
}
