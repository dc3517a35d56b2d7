/**
 * `deno task bench:history`: what 90 days of checks cost to keep and to show. Loads the results of 100 services at 30 s (26 million
 * rows, generated in SQL), rolls them up, and measures what pages ask for: 90-day bars, uptime for 24 h, 7 d, 30 d and 90 d, latency
 * percentiles; for one service, and for an overview of all. Beside it what the same costs from the rows.
 *
 * A fresh embedded server with the settings it ships with, in a temporary directory; about 7 GB of disk. Times are taken inside
 * the server, after a first run, which is shown on its own: a new connection has no plans yet. About 15 minutes.
 *
 * Options: --services 100, --days 90, --every 30 (seconds), --runs 21.
 */
import { openClient, type Sql } from "../src/database/client.ts";
import { migrate } from "../src/database/migrate.ts";
import { fillServices } from "./bench/fill.ts";
import { median, numberOption, percentile, printTable, whole } from "./bench/numbers.ts";
import { type BenchServer, startBenchServer } from "./bench/server.ts";

/** How much history there is. */
interface Size {
  services: number;
  days: number;
  /** Seconds between two checks. */
  every: number;
}

/** A question that a page asks. */
interface Question {
  title: string;
  /** One statement; its rows are made and thrown away. */
  query: string;
  /** Asked once and not again and again: it takes seconds. */
  once?: boolean;
}

const DAY = 86_400;
/** One in so many windows is a failure, and one in so many has no verdict. */
const RARITY = { down: 1000, gap: 2000 };

async function main(args: string[]): Promise<void> {
  const size: Size = {
    services: numberOption(args, "services", 100),
    days: numberOption(args, "days", 90),
    every: numberOption(args, "every", 30),
  };
  const runs = numberOption(args, "runs", 21);
  await using server = await startBenchServer();
  const url = await server.createDatabase("history");
  await migrate(url);
  const sql = openClient(url, { maxConnections: 1, applicationName: "bench" });
  try {
    const [version] = await sql<{ version: string }[]>`select current_setting('server_version') as version`;
    console.log(
      `PostgreSQL ${version?.version}, ${navigator.hardwareConcurrency} cores, ${size.services} services every ${size.every} s for ${size.days} days`,
    );
    const checks = await load(server, sql, size);
    await rollUp(server, sql, checks);
    await reportSizes(sql, checks);
    await answer(url, "One service", onePage(size), runs);
    await answer(url, `All ${size.services} services`, overview(), runs);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Writes the results of all days up to now, in the order in which they would have come in. @returns How many. */
async function load(server: BenchServer, sql: Sql, { services, days, every }: Size): Promise<number> {
  const began = performance.now();
  await server.admin`alter system set fsync = off`;
  await server.admin`select pg_reload_conf()`;
  await fillServices(sql, services, every);
  const [clock] = await sql<{ now: number }[]>`select extract(epoch from clock_timestamp())::float8 as now`;
  const now = Math.floor(clock?.now ?? NaN);
  const start = now - now % DAY - days * DAY;
  await sql`update uptuple.service_active set during = tstzrange(to_timestamp(${start}), null)`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = ${now}`;
  await sql`update uptuple.roll_up_mark set rolled_from = ${start}, rolled_until = ${start}`;

  let checks = 0;
  for (let day = start; day < now; day += DAY) {
    await sql`select uptuple.ensure_partitions(${day}, ${day})`;
    const { count } = await sql`
      insert into uptuple.result (
        scheduled_slot, service_id, job_id, applied_order, recorded_at, revision, latency_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
        http_status, region, purpose, status, code, reason, worker, detail
      )
      select slot, service.id, nextval('uptuple.job_id'), (cycle - ${start}) / ${every},
        to_timestamp(slot) + interval '0.4 s', 1,
        case when up then exp(3 + service.id % 40 / 20.0 + random() * 0.8 + (random() < 0.02)::integer * 3) else 0.7 end,
        0.3, 0.4, case when up then 3.1 end, case when up then 10.5 end, case when up then 200 end, 'default', 'GRID',
        case when up then 'UP' else 'DOWN' end, case when not up then 'connect.refused' end, case when not up then 'connection refused' end,
        'host-1-4711', '{"address": "10.0.0.1", "family": 4, "transport": "node"}'
      from generate_series(${day}::bigint, ${Math.min(day + DAY, now) - 1}::bigint, ${every}) cycle
      cross join (select id, phase_seconds from uptuple.service order by phase_seconds, id) service
      cross join lateral (select random() >= 1.0 / ${RARITY.down} as up, random() < 1.0 / ${RARITY.gap} as gap, cycle + service.phase_seconds as slot) chance
      where not gap and slot < ${now - 5}`;
    // Autovacuum would have come by now, here and where the roll-ups are.
    await sql.unsafe(
      `vacuum (analyze) uptuple.result_${new Date(day * 1000).toISOString().slice(0, 10).replaceAll("-", "")}`,
    );
    checks += count;
  }
  await sql`
    insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order, closed_at, closed_by, code)
    select service.id, 'default', at, at + interval '1 minute', n, at + interval '7 minutes', 'recovered', 'timeout.headers'
    from uptuple.service
    cross join generate_series(1, 10) n
    cross join lateral (select to_timestamp(${start} + (n - random()) * ${days / 10 * DAY}) as at) moment`;
  await server.admin`alter system set fsync = on`;
  await server.admin`select pg_reload_conf()`;
  await server.admin`checkpoint`;
  console.log(`loaded ${whole(checks)} results in ${whole((performance.now() - began) / 1000)} s`);
  return checks;
}

async function rollUp(server: BenchServer, sql: Sql, checks: number): Promise<void> {
  const [began, cpu, wal] = [performance.now(), server.cpuMs(), await server.walBytes()];
  await sql`select uptuple.roll_up('1 day')`;
  const per = (value: number, digits: number) => (value / checks).toFixed(digits);
  console.log(
    `rolled up in ${whole((performance.now() - began) / 1000)} s: ${
      per((server.cpuMs() - cpu) * 1000, 2)
    } us of the server's CPU ` +
      `and ${per(await server.walBytes() - wal, 2)} bytes of WAL a check\n`,
  );
  await sql`vacuum (analyze) uptuple.service_hour, uptuple.service_day`;
}

async function reportSizes(sql: Sql, checks: number): Promise<void> {
  const rows = await sql<{ kind: string; rows: number; table_bytes: number; index_bytes: number }[]>`
    select 'result' as kind, ${checks}::float8 as rows, sum(pg_table_size(inhrelid))::float8 as table_bytes,
      sum(pg_indexes_size(inhrelid))::float8 as index_bytes
    from pg_inherits where inhparent = 'uptuple.result'::regclass
    union all
    select 'service_hour', (select count(*) from uptuple.service_hour), pg_table_size('uptuple.service_hour'), pg_indexes_size('uptuple.service_hour')
    union all
    select 'service_day', (select count(*) from uptuple.service_day), pg_table_size('uptuple.service_day'), pg_indexes_size('uptuple.service_day')`;
  printTable(
    ["", "rows", "table MB", "indexes MB", "bytes a row", "in the indexes", "bytes a check"],
    rows.map((row) => [
      row.kind,
      whole(row.rows),
      (row.table_bytes / 1e6).toFixed(1),
      (row.index_bytes / 1e6).toFixed(1),
      (row.table_bytes / row.rows).toFixed(1),
      (row.index_bytes / row.rows).toFixed(1),
      ((row.table_bytes + row.index_bytes) / checks).toFixed(2),
    ]),
  );
}

function onePage({ days }: Size): Question[] {
  const uptime = (ago: string) => `select * from uptuple.uptime('service 7', clock_timestamp() - interval '${ago}')`;
  const percentiles = (ago: string) =>
    `select * from uptuple.percentiles('service 7', clock_timestamp() - interval '${ago}')`;
  const bars = `select * from uptuple.daily('service 7', 90)`;
  const uptimes = ["24 hours", "7 days", "30 days", "90 days"].map(uptime);
  return [
    { title: `90-day bars with latency`, query: bars },
    { title: "uptime 24 h", query: uptime("24 hours") },
    { title: "uptime 7 d", query: uptime("7 days") },
    { title: "uptime 30 d", query: uptime("30 days") },
    { title: "uptime 90 d", query: uptime("90 days") },
    { title: "percentiles 24 h", query: percentiles("24 hours") },
    { title: "percentiles 90 d", query: percentiles("90 days") },
    {
      title: "status page: bars, 4 x uptime, percentiles",
      query: `select (select count(*) from (${bars}) q), ${
        [...uptimes, percentiles("24 hours")].map((each) => `(select count(*) from (${each}) q)`).join(", ")
      }`,
    },
    {
      title: "uptime 24 h, window by window from the rows",
      query: `select count(verdict) from uptuple.windows('service 7')`,
      once: true,
    },
    {
      title: `uptime ${days} d, window by window from the rows`,
      query: `select count(verdict) from uptuple.windows('service 7', clock_timestamp() - interval '${days} days')`,
      once: true,
    },
  ];
}

function overview(): Question[] {
  const uptimes = (ago: string) => `select * from uptuple.uptimes(clock_timestamp() - interval '${ago}')`;
  return [
    { title: "90-day bars", query: "select * from uptuple.daily_uptimes(90)" },
    { title: "uptime 24 h", query: uptimes("24 hours") },
    { title: "uptime 7 d", query: uptimes("7 days") },
    { title: "uptime 30 d", query: uptimes("30 days") },
    { title: "uptime 90 d", query: uptimes("90 days") },
  ];
}

/** Asks each question on a new connection, first once, then again and again, and prints how long it took. */
async function answer(url: string, title: string, questions: Question[], runs: number): Promise<void> {
  const rows: string[][] = [];
  for (const { title, query, once } of questions) {
    const sql = openClient(url, { maxConnections: 1, applicationName: "bench" });
    await sql.unsafe(TIMER);
    const time = async (times: number) => {
      const [row] = await sql<{ ms: number[] }[]>`select pg_temp.times_ms(${query}, ${times}) as ms`;
      return row?.ms ?? [];
    };
    const [first = NaN] = await time(1);
    const ms = once ? [first] : await time(runs);
    await sql.end({ timeout: 1 });
    const show = (value: number) => value.toFixed(value < 10 ? 2 : 1);
    rows.push([title, show(median(ms)), show(Math.min(...ms)), show(percentile(ms, 90)), show(first)]);
  }
  console.log(`\n${title}, ms in the server`);
  printTable(["", "median", "lowest", "p90", "first"], rows);
}

const TIMER = `
  create function pg_temp.times_ms(query text, times integer) returns float8[] language plpgsql as $$
  declare
    began timestamptz;
    taken float8[] := array[]::float8[];
  begin
    for turn in 1..times loop
      began := clock_timestamp();
      execute query;
      taken := taken || extract(epoch from clock_timestamp() - began)::float8 * 1000;
    end loop;
    return taken;
  end $$`;

if (import.meta.main) await main(Deno.args);
