import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { createDemoFunctions, fires, knownSince, runAll } from "./demo_functions.ts";

/** A night on which the clocks of a zone change. Times are UTC. */
interface Night {
  zone: string;
  season: "spring" | "autumn";
  from: string;
  until: string;
  /** A time of day that is skipped or repeated, and when a task of that time runs. */
  fixed: { cron: string; fires: string[] };
  /** What follows real time, and when it runs. */
  star: { cron: string; fires: string[] };
}

const NIGHTS: Night[] = [
  {
    zone: "America/New_York",
    season: "spring",
    from: "2027-03-13T12:00Z",
    until: "2027-03-15T12:00Z",
    fixed: { cron: "30 2 * * *", fires: ["03-14 07:00:00", "03-15 06:30:00"] },
    star: { cron: "0 */2 14 3 *", fires: ["03-14 05:00:00", "03-14 08:00:00", "03-14 10:00:00"] },
  },
  {
    zone: "America/New_York",
    season: "autumn",
    from: "2027-11-06T12:00Z",
    until: "2027-11-08T12:00Z",
    fixed: { cron: "30 1 * * *", fires: ["11-07 05:30:00", "11-08 06:30:00"] },
    star: { cron: "*/30 1 * * *", fires: ["11-07 05:00:00", "11-07 05:30:00", "11-07 06:00:00", "11-07 06:30:00"] },
  },
  {
    zone: "Europe/Berlin",
    season: "spring",
    from: "2027-03-27T12:00Z",
    until: "2027-03-29T12:00Z",
    fixed: { cron: "15,45 2 * * *", fires: ["03-28 01:00:00", "03-29 00:15:00", "03-29 00:45:00"] },
    star: { cron: "*/30 2,3 * * *", fires: ["03-28 01:00:00", "03-28 01:30:00", "03-29 00:00:00"] },
  },
  {
    zone: "Europe/Berlin",
    season: "autumn",
    from: "2027-10-30T12:00Z",
    until: "2027-11-01T12:00Z",
    fixed: { cron: "15,45 2 * * *", fires: ["10-31 00:15:00", "10-31 00:45:00", "11-01 01:15:00", "11-01 01:45:00"] },
    star: { cron: "*/30 2 * * *", fires: ["10-31 00:00:00", "10-31 00:30:00", "10-31 01:00:00", "10-31 01:30:00"] },
  },
  {
    zone: "Australia/Lord_Howe",
    season: "spring",
    from: "2027-10-02T00:00Z",
    until: "2027-10-04T00:00Z",
    fixed: { cron: "15 2 * * *", fires: ["10-02 15:30:00", "10-03 15:15:00"] },
    star: { cron: "*/15 2 * * *", fires: ["10-02 15:30:00", "10-02 15:45:00", "10-03 15:00:00", "10-03 15:15:00"] },
  },
  {
    zone: "Australia/Lord_Howe",
    season: "autumn",
    from: "2027-04-03T00:00Z",
    until: "2027-04-05T00:00Z",
    fixed: { cron: "45 1 * * *", fires: ["04-03 14:45:00", "04-04 15:15:00"] },
    star: {
      cron: "*/15 1 * * *",
      fires: ["04-03 14:00:00", "04-03 14:15:00", "04-03 14:30:00", "04-03 14:45:00", "04-03 15:00:00"],
    },
  },
];

for (const { zone, season, from, until, fixed, star } of NIGHTS) {
  Deno.test(`in ${season} in ${zone} a fixed time runs once a local day, and a star follows real time`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await createDemoFunctions(owner);
    await owner`
      insert into uptuple.task (name, kind, cron, time_zone, function, miss_policy) values
        ('fixed', 'CRON', ${fixed.cron}, ${zone}, 'demo.note', 'all'),
        ('star', 'CRON', ${star.cron}, ${zone}, 'demo.note', 'all')`;
    for (const task of ["fixed", "star"]) await knownSince(owner, task, from);

    for (let now = Date.parse(from); now <= Date.parse(until); now += 30 * 60_000) await runAll(owner, new Date(now));

    assert.deepEqual(await fires(owner, "fixed"), fixed.fires.map((fire) => `${fire} SUCCEEDED`));
    const stars = (await fires(owner, "star")).slice(0, star.fires.length);
    assert.deepEqual(stars, star.fires.map((fire) => `${fire} SUCCEEDED`));
  });
}
