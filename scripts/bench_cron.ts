/**
 * `deno task bench:cron`: how long `uptuple.cron_next` takes, typical expressions first, then the worst that are known: days that are
 * 28 or 40 years ahead, days that never come, and hours that clocks change. Medians, measured inside the server.
 *
 * On a temporary server of its own, or on the one that TEST_DATABASE_URL names.
 */
import { openClient, type Sql } from "../src/database/client.ts";
import { migrate } from "../src/database/migrate.ts";
import { withDatabase } from "../src/database/url.ts";
import { startTestCluster } from "../tests/support/cluster.ts";

interface Case {
  expression: string;
  zone: string;
  after: string;
}

const TYPICAL: Case[] = [
  { expression: "*/5 * * * *", zone: "UTC", after: "2026-03-01T00:00:00Z" },
  { expression: "@hourly", zone: "America/New_York", after: "2026-03-01T00:00:00Z" },
  { expression: "0 3 * * *", zone: "Europe/Berlin", after: "2026-03-01T00:00:00Z" },
  { expression: "30 9 * * MON-FRI", zone: "America/New_York", after: "2026-03-01T00:00:00Z" },
  { expression: "0 0 L * *", zone: "UTC", after: "2026-03-01T00:00:00Z" },
  { expression: "0 0 1 1 *", zone: "Asia/Kolkata", after: "2026-03-01T00:00:00Z" },
  { expression: "*/10 * * * * *", zone: "UTC", after: "2026-03-01T00:00:00Z" },
];

const WORST: Case[] = [
  { expression: "30 2 * * *", zone: "America/New_York", after: "2026-03-08T06:00:00Z" },
  { expression: "*/20 1 * * *", zone: "America/New_York", after: "2026-11-01T05:50:00Z" },
  { expression: "0 0 0 29 2 MON", zone: "UTC", after: "2016-03-01T00:00:00Z" },
  { expression: "0 0 * 2 MON#5", zone: "Europe/Berlin", after: "2072-03-01T00:00:00Z" },
  { expression: "0 0 30 2 *", zone: "UTC", after: "2026-03-01T00:00:00Z" },
  { expression: "0 0 0 31W * SUN#1", zone: "UTC", after: "2026-03-01T00:00:00Z" },
  { expression: "0 */30 2 ? 3 SUN#2", zone: "America/New_York", after: "2026-03-01T00:00:00Z" },
];

const REPETITIONS = 301;

/** The median time of a call, in ms. */
async function median(sql: Sql, { expression, zone, after }: Case): Promise<number> {
  const [row] = await sql<
    { median: number }[]
  >`select pg_temp.median_ms(${expression}, ${zone}, ${after}, ${REPETITIONS}) as median`;
  return row?.median ?? NaN;
}

async function prepare(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create function pg_temp.median_ms(expression text, zone text, after timestamptz, repetitions integer)
    returns float8 language plpgsql as $$
    declare
      begun timestamptz;
      taken float8[] := array[]::float8[];
    begin
      for turn in 1..repetitions loop
        begun := clock_timestamp();
        perform uptuple.cron_next(expression, zone, after);
        taken := taken || extract(epoch from clock_timestamp() - begun)::float8 * 1000;
      end loop;
      return (select percentile_cont(0.5) within group (order by t) from unnest(taken) t);
    end $$`);
}

async function main(): Promise<void> {
  const cluster = await startTestCluster();
  const name = `uptuple_bench_cron_${crypto.randomUUID().slice(0, 8)}`;
  const admin = openClient(cluster.url, { maxConnections: 1, applicationName: "uptuple bench" });
  try {
    await admin`create database ${admin(name)}`;
    const url = withDatabase(cluster.url, name);
    await migrate(url);
    const sql = openClient(url, { maxConnections: 1, applicationName: "uptuple bench" });
    await prepare(sql);
    for (const [title, cases] of [["typical", TYPICAL], ["worst", WORST]] as const) {
      console.log(`\n${title}`);
      for (const each of cases) {
        console.log(
          `${(await median(sql, each)).toFixed(3).padStart(9)} ms  ${each.expression.padEnd(20)} ${each.zone}`,
        );
      }
    }
    await sql.end({ timeout: 1 });
    await admin`drop database ${admin(name)} with (force)`;
  } finally {
    await admin.end({ timeout: 1 });
    await cluster.stop();
  }
}

if (import.meta.main) await main();
