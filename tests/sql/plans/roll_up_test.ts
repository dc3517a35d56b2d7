import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { DAY, HOUR, nowSecond } from "../../support/history.ts";
import { addJobs, addResults, addServices, CHECKS_EACH, makePartitions, MANY, OTHERS } from "./many_checks.ts";
import { type ExplainedConnection, explainedConnection, forgetStatistics, type Work } from "./plans.ts";

/** As many services are rolled up at once, besides one. */
const SEVERAL = 50;
/** Windows of a service in an hour, of which the last few were missed. */
const WINDOWS = 60;
const GAPS = 6;

/** Pages that a call may take, however little is counted, once its plans are made. */
const PAGES_FOR_NOTHING = 200;
/** Its windows, once from results and perhaps once from jobs, and the totals. */
const PAGES_AN_HOUR = 2 * WINDOWS;
const ROWS_AN_HOUR = 2 * WINDOWS;
/** Of these there are a row or a few. */
const SMALL = ["roll_up_mark", "retention", "region"];

/** Windows of each of the others, one in 14 minutes of a day, and the totals of all its hours. */
async function addOthers(sql: TestSql, day: number): Promise<void> {
  await addResults(sql, "other", day, 14 * 60, CHECKS_EACH);
  await addJobs(sql, "other", day, 14 * 60, CHECKS_EACH);
  await sql`
    insert into uptuple.service_hour (
      service_id, region, hour, expected, up, degraded, down, inconclusive, missed, failed, canceled,
      latency_count, latency_sum_us, latency_buckets, latency_counts
    )
    select id, 'default', to_timestamp(${day} + 3600 * number), 60, 60, 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}'
    from generate_series(0, 23) number
    cross join (select id from uptuple.service where starts_with(name, 'other') order by id) service`;
}

async function forgetOthers(sql: TestSql): Promise<void> {
  await sql`delete from uptuple.job where state = 'READY'`;
  await sql`delete from uptuple.result where service_id in (select id from uptuple.service where starts_with(name, 'other'))`;
  await sql`delete from uptuple.service_hour`;
}

function assertBounded(work: Work, hours: number, what: string): void {
  assert.deepEqual([...work.scannedTables].filter((table) => !SMALL.includes(table)), [], `${what} scans tables`);
  assert.deepEqual([...work.otherJoins], [], `${what} joins otherwise than by nested loops`);
  for (const [index, rows] of work.rowsByIndex) {
    assert.ok(rows <= ROWS_AN_HOUR * hours, `${what} reads ${rows} rows through ${index}, for ${hours} hours`);
  }
  const pages = PAGES_FOR_NOTHING + PAGES_AN_HOUR * hours;
  assert.ok(work.buffers < pages, `${what} looks at ${work.buffers} pages, for ${hours} hours`);
}

/** Counts one hour of some services in each way there is, and takes it back. */
async function count(
  { sql, explain }: ExplainedConnection,
  hour: number,
  services: number,
): Promise<Record<string, Work>> {
  const works: Record<string, Work> = {};
  await sql.unsafe("begin; set local statement_timeout = '10s'");
  try {
    const ids = (await sql<{ id: string }[]>`
      select id from uptuple.service where name like 'one %' order by id limit ${services}`).map(({ id }) => id);
    const regions = ids.map(() => "default");
    const day = new Date(hour * 1000).toISOString().slice(0, 10);

    // Each before that which calls it, so that its plans are its own.
    works["tally"] = await explain((sql) =>
      sql`
        select * from uptuple.tally(${ids}, ${regions}, array_fill(${hour}::bigint, array[${services}]::integer[]),
          array_fill(${hour + HOUR}::bigint, array[${services}]::integer[]))`
    );
    works["roll_up_hours"] = await explain((sql) =>
      sql`
        select uptuple.roll_up_hours(${ids}, ${regions}, array_fill(to_timestamp(${hour}), array[${services}]::integer[]))`
    );
    works["roll_up_days"] = await explain((sql) =>
      sql`
        select uptuple.roll_up_days(${ids}, ${regions}, array_fill(${day}::date, array[${services}]::integer[]))`
    );
    const before = BigInt(ids[0] ?? 0) - 1n;
    if (services === SEVERAL) {
      works["roll_up_next"] = await explain((sql) =>
        sql`select * from uptuple.roll_up_next(${hour}, ${String(before)})`
      );
    }
    await sql`
      insert into uptuple.unfinished_hour (service_id, region, hour)
      select unnest(${ids}::bigint[]), 'default', to_timestamp(${hour})`;
    works["roll_up_late"] = await explain((sql) => sql`select uptuple.roll_up_late(${hour + DAY})`);
  } finally {
    await sql.unsafe("rollback");
  }
  return works;
}

/** What is counted at first in a state of things reads catalogs, to make plans, so it is counted twice. */
async function check(connection: ExplainedConnection, hour: number, when: string): Promise<void> {
  for (const services of [1, SEVERAL]) {
    await count(connection, hour, services);
    for (const [what, work] of Object.entries(await count(connection, hour, services))) {
      assertBounded(work, services, `${what} ${when}`);
    }
  }
}

Deno.test("counting an hour of services reads the windows of those and no others, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await makePartitions(owner);
  const now = await nowSecond(owner);
  const yesterday = now - now % DAY - DAY;
  const hour = yesterday + 12 * HOUR;
  await addServices(owner, "other", OTHERS);
  // These come last, so that what follows the service before them is these.
  await addServices(owner, "one", SEVERAL);
  // Its plans are made while there is nothing, and then kept, as those of a runtime that has been up for long.
  await using early = await explainedConnection(database.url);

  async function checkBoth(when: string): Promise<void> {
    await t.step(when, async () => {
      await check(early, hour, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await check(late, hour, `${when}, by a new plan`);
    });
  }
  await checkBoth("no statistics, nothing there");
  await owner`analyze`;
  await checkBoth("analysed, nothing there");
  await addResults(owner, "one", hour, 60, 1);
  await checkBoth("analysed while it was empty, one window each");
  await addResults(owner, "one", hour + 60, 60, WINDOWS - GAPS - 1);
  await addJobs(owner, "one", hour + HOUR - 60 * GAPS, 60, GAPS);
  await owner`update uptuple.job set state = 'MISSED', finished_at = clock_timestamp()`;
  await addOthers(owner, yesterday);
  await checkBoth(`analysed while it was empty, ${MANY} windows of others`);
  await owner`analyze`;
  await checkBoth(`analysed, ${MANY} windows of others`);
  await forgetOthers(owner);
  await checkBoth(`analysed with ${MANY} windows of others, nothing else there`);
  await addJobs(owner, "other", hour, 6 * 60, CHECKS_EACH);
  await checkBoth(`analysed with ${MANY} windows of others, ${MANY} jobs of this hour and later ones`);
  await forgetStatistics(owner);
  await checkBoth(`no statistics, ${MANY} jobs of this hour and later ones`);
});
