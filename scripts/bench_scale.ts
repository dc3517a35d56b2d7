/**
 * `deno task bench:scale`: does the cost of a row stay flat, and does one server carry a million checks a minute?
 *
 * First it fills more and more services, and measures at each size: enqueueing, claiming and completing (per job), the status of one
 * service, what its page asks for, and the roll-up of an hour. Then it drives the whole cycle (windows of 60 s, enqueued, claimed,
 * completed with result, state, streak and incident decision) at the last size for some minutes. Only the probe is left out: observations
 * are canned. Clients and server share the machine.
 *
 * A fresh embedded server, fsync on, in a temporary directory: some 3 GB for a million services and two minutes.
 * Options: --sizes 1000,10000,100000,1000000, --minutes 2, --clients 2, --shared-buffers 1024 (MB; what the server ships with is 128).
 */
import { drive } from "./bench/drive.ts";
import { fillDueJobs, fillServices } from "./bench/fill.ts";
import { median, numberOption, printTable, whole } from "./bench/numbers.ts";
import { cannedObservation } from "./bench/observations.ts";
import { type BenchServer, startBenchServer } from "./bench/server.ts";
import { openClient, type Sql } from "../src/database/client.ts";
import { migrate } from "../src/database/migrate.ts";

const INTERVAL_SECONDS = 60;
const BATCH_SIZE = 200;
/** Jobs claimed and completed at each size, at most. */
const JOBS_A_SIZE = 10_000;
const READS = 21;
/** Services whose last hour is rolled up at each size, at most. */
const SERVICES_ROLLED_UP = 2_000;

async function main(args: string[]): Promise<void> {
  const sizes = sizesOption(args);
  const minutes = numberOption(args, "minutes", 2);
  const clients = numberOption(args, "clients", 2);
  const sharedBuffers = numberOption(args, "shared-buffers", 1024);
  await using server = await startBenchServer({ shared_buffers: `${sharedBuffers}MB`, max_wal_size: "8GB" });
  await migrate(server.url);
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "bench" });

  const rows: string[][] = [];
  for (const size of sizes) rows.push(await measureSize(sql, size));
  printTable(
    ["services", "enqueue us/job", "claim us/job", "complete us/job", "status ms", "page ms", "roll-up us/result"],
    rows,
  );
  await driveFor(server, sql, sizes.at(-1) ?? 0, minutes, clients);
  await sql.end();
}

/** Wall-clock times of one connection: at every size the same work is asked for. */
async function measureSize(sql: Sql, size: number): Promise<string[]> {
  await fillServices(sql, size, INTERVAL_SECONDS);
  await sql`vacuum analyze`;

  const [cursor] = await sql<
    { second: number }[]
  >`select floor(extract(epoch from clock_timestamp()))::integer as second`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = ${(cursor?.second ?? 0) - 1}`;
  let made = 0;
  const enqueueMs = await timed(async () => {
    const [row] = await sql<{ made: number }[]>`select uptuple.enqueue_jobs() as made`;
    made = row?.made ?? 0;
  });

  // Those would be due in a while; the ones to measure with are due now, for a second that no job is for yet.
  await sql`delete from uptuple.job where state = 'READY'`;
  await sql`vacuum uptuple.job`;
  await fillDueJobs(sql, Math.min(size, JOBS_A_SIZE));
  let [claimMs, completeMs, jobs] = [0, 0, 0];
  for (;;) {
    let claimed: { job_id: string; scheduled_slot: string; owner_token: string }[] = [];
    const ms = await timed(async () => {
      claimed = await sql`select job_id, scheduled_slot, owner_token from uptuple.claim_jobs('bench', ${BATCH_SIZE})`;
    });
    if (claimed.length === 0) break;
    claimMs += ms;
    jobs += claimed.length;
    const completions = claimed.map(({ job_id, scheduled_slot, owner_token }) => ({
      ...{ job_id, scheduled_slot, owner_token },
      observation: cannedObservation(Number(job_id)),
    }));
    completeMs += await timed(() => sql`select * from uptuple.complete_jobs(${sql.json(completions as never)})`);
  }

  const service = `service ${Math.ceil(size / 2)}`;
  const statusMs = await medianTime(() => sql`select * from uptuple.status where service = ${service}`);
  const pageMs = await medianTime(() => sql`select * from uptuple.uptime(${service})`);
  return [
    whole(size),
    (enqueueMs * 1000 / made).toFixed(1),
    (claimMs * 1000 / jobs).toFixed(1),
    (completeMs * 1000 / jobs).toFixed(1),
    statusMs.toFixed(2),
    pageMs.toFixed(2),
    await rollUpCost(sql, size),
  ];
}

/**
 * Cost of rolling up a result, in us of wall-clock time: the last hour of some services, spread over all there are, with a result a minute.
 * The hour of all would be sixty million results at the largest size.
 */
async function rollUpCost(sql: Sql, size: number): Promise<string> {
  const services = Math.min(size, SERVICES_ROLLED_UP);
  await sql`select uptuple.ensure_partitions(extract(epoch from clock_timestamp())::bigint - 7200)`;
  await sql`create temporary table rolled_up as
    select service.id, service.phase_seconds, (extract(epoch from date_trunc('hour', clock_timestamp())) - 3600)::bigint as from_slot
    from uptuple.service
    where mod(service.id, ${Math.floor(size / services)}) = 0
    limit ${services}`;
  await sql`
    update uptuple.service_active active set during = tstzrange(to_timestamp(rolled_up.from_slot), null)
    from rolled_up where active.service_id = rolled_up.id`;
  const { count: results } = await sql`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, region, purpose, status, latency_ms)
    select from_slot + window_start + phase_seconds, id, to_timestamp(from_slot + window_start + phase_seconds + 1), 1, 'default', 'GRID', 'UP',
      10 + mod(id + window_start, 100)
    from rolled_up, generate_series(0, 3540, ${INTERVAL_SECONDS}) window_start
    order by 1`;
  const ms = await timed(() =>
    sql`
    select uptuple.roll_up_hours(array_agg(id order by id), array_agg('default'::text order by id), array_agg(to_timestamp(from_slot) order by id))
    from rolled_up`
  );
  await sql`drop table rolled_up`;
  await sql`delete from uptuple.result where scheduled_slot < extract(epoch from date_trunc('hour', clock_timestamp()))`;
  return (ms * 1000 / results).toFixed(1);
}

async function driveFor(
  server: BenchServer,
  sql: Sql,
  services: number,
  minutes: number,
  clients: number,
): Promise<void> {
  await sql`vacuum analyze`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = extract(epoch from clock_timestamp())`;
  const due = services / INTERVAL_SECONDS;
  console.log(
    `\n${whole(services)} services every ${INTERVAL_SECONDS} s for ${minutes} min: ${
      whole(due)
    } checks/s are due, ${clients} clients`,
  );
  await drive(server.url, 10, clients);

  const [cpu, wal, size] = [server.cpuMs(), await server.walBytes(), await databaseBytes(sql)];
  const vacuumsBefore = await autovacuums(sql);
  const driven = await drive(server.url, minutes * 60, clients);
  const perCheck = (value: number) => whole(value / driven.checks);
  const rate = driven.checks / driven.seconds;
  printTable(["", ""], [
    ["checks a minute", whole(rate * 60)],
    ["of those due", `${(rate / due * 100).toFixed(1)} %`],
    ["windows missed", whole(driven.missed)],
    ["lateness of claims, p50", `${whole(driven.latenessP50)} ms`],
    ["lateness of claims, p99", `${whole(driven.latenessP99)} ms`],
    ["server CPU per check, enqueueing included", `${perCheck((server.cpuMs() - cpu) * 1000)} us`],
    ["WAL per check", `${perCheck(await server.walBytes() - wal)} bytes`],
    ["growth of the database per check", `${perCheck(await databaseBytes(sql) - size)} bytes`],
    ["autovacuum and autoanalyze runs", whole(await autovacuums(sql) - vacuumsBefore)],
  ]);
}

async function databaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_database_size(current_database())::float8 as bytes`;
  return row?.bytes ?? NaN;
}

async function autovacuums(sql: Sql): Promise<number> {
  const [row] = await sql<{ runs: number }[]>`
    select sum(autovacuum_count + autoanalyze_count)::float8 as runs from pg_stat_all_tables`;
  return row?.runs ?? NaN;
}

async function timed(run: () => PromiseLike<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

async function medianTime(run: () => PromiseLike<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < READS; turn++) times.push(await timed(run));
  return median(times);
}

function sizesOption(args: string[]): number[] {
  const at = args.findIndex((arg) => arg === "--sizes" || arg.startsWith("--sizes="));
  const text = at === -1 ? "1000,10000,100000,1000000" : args[at]?.split("=")[1] ?? args[at + 1] ?? "";
  const sizes = text.split(",").map(Number);
  if (sizes.some((size, index) => !Number.isInteger(size) || size <= (sizes[index - 1] ?? 0))) {
    throw new Error(`--sizes is "${text}": give rising whole numbers, such as 1000,10000.`);
  }
  return sizes;
}

if (import.meta.main) await main(Deno.args);
