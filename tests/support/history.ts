import type { TestSql } from "./database.ts";
import { addService } from "./services.ts";

export const HOUR = 3600;
export const DAY = 86_400;

/** What became of one window of the past. */
export interface PastWindow {
  /** Its start, in epoch seconds. */
  slot: number;
  /** Its verdict; left out, it has a job without a result, or nothing. */
  status?: "UP" | "DEGRADED" | "DOWN" | "INCONCLUSIVE";
  /** In ms. */
  latency?: number;
  /** How its job ended without a verdict, or that it has not ended. */
  job?: "MISSED" | "FAILED" | "CANCELED" | "READY";
  /** Claims of that job. */
  attempts?: number;
}

/** The present epoch second of the database. */
export async function nowSecond(sql: TestSql): Promise<number> {
  const [clock] = await sql<[{ second: number }]>`
    select floor(extract(epoch from clock_timestamp()))::float8 as second`;
  return clock.second;
}

/**
 * Adds a service as if it had been watched since some time: windows start at every multiple of the interval. It has no jobs.
 *
 * @param every Its interval, in seconds.
 * @param since Epoch second.
 * @returns Its id.
 */
export async function addPastService(sql: TestSql, name: string, every: number, since: number): Promise<string> {
  const id = await addService(sql, name, { every: `${every} seconds` });
  await sql`delete from uptuple.job where service_id = ${id}`;
  await sql`update uptuple.service set phase_seconds = 0, first_slot = ${since} where id = ${id}`;
  await sql`
    update uptuple.service_active set phase_seconds = 0, during = tstzrange(to_timestamp(${since}), null) where service_id = ${id}`;
  return id;
}

/** Writes what became of windows of a service, with the partitions that they need. */
export async function writePast(sql: TestSql, serviceId: string, windows: PastWindow[]): Promise<void> {
  const given = sql.json(windows as never);
  await sql`
    select uptuple.ensure_partitions(slot, slot)
    from (select distinct slot / ${DAY} * ${DAY} as slot from jsonb_to_recordset(${given}) as past (slot bigint)) days`;
  await sql`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region, state, attempts)
    select past.slot, service.id, to_timestamp(past.slot), service.revision, service.interval_seconds, 'default', past.job, coalesce(past.attempts, 0)
    from jsonb_to_recordset(${given}) as past (slot bigint, job text, attempts integer)
    join uptuple.service on service.id = ${serviceId}
    where past.job is not null`;
  await sql`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, latency_ms, region, purpose, status)
    select past.slot, service.id, to_timestamp(past.slot), service.revision, past.latency, 'default', 'GRID', past.status
    from jsonb_to_recordset(${given}) as past (slot bigint, status text, latency real)
    join uptuple.service on service.id = ${serviceId}
    where past.status is not null`;
}

/** Makes it so that nothing is rolled up from some day on, and that enqueueing has come to the present. */
export async function unroll(sql: TestSql, since: number): Promise<void> {
  await sql`delete from uptuple.service_hour`;
  await sql`delete from uptuple.service_day`;
  await sql`delete from uptuple.unfinished_hour`;
  await sql`
    update uptuple.roll_up_mark
    set rolled_from = day, rolled_until = day, done_to_service = null
    from (select ${since}::bigint / ${DAY} * ${DAY} as day) start`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = extract(epoch from clock_timestamp())`;
}

/** Calls `roll_up` until it has nothing more to do. @returns How many hours of services it counted. */
export async function rollUp(sql: TestSql, atMost = "1 minute"): Promise<number> {
  let counted = 0;
  let before = "";
  while (true) {
    const [answer] = await sql<[{ counted: string }]>`select uptuple.roll_up(${atMost}) as counted`;
    counted += Number(answer.counted);
    const [mark] = await sql`select rolled_until, done_to_service from uptuple.roll_up_mark`;
    const after = `${mark.rolled_until} ${mark.done_to_service}`;
    if (after === before && answer.counted === "0") return counted;
    before = after;
  }
}

/** What a report of a stretch of time says of a service. */
export interface Report {
  expected: string;
  up: string;
  down: string;
  uptime: string | null;
  coverage: string | null;
  windows: string;
  mean: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** Uptime and percentiles of a service between two epoch seconds. */
export async function report(sql: TestSql, service: string, since: number, until: number): Promise<Report> {
  const [row] = await sql<[Report]>`
    select uptime.*, percentiles.*
    from uptuple.uptime(${service}, to_timestamp(${since}), to_timestamp(${until})) uptime
    cross join uptuple.percentiles(${service}, to_timestamp(${since}), to_timestamp(${until})) percentiles`;
  return { ...row };
}

/** All that is rolled up, in one order, histograms by bucket. */
export async function rolledUp(sql: TestSql): Promise<object[]> {
  const rows = await sql<object[]>`
    select to_jsonb(total) - '{latency_buckets,latency_counts}'::text[] as totals,
      (select jsonb_object_agg(bucket, windows) from unnest(latency_buckets, latency_counts) part (bucket, windows)) as histogram
    from (
      select service_id, region, hour::text as since, expected, up, degraded, down, inconclusive, missed, failed, canceled,
        latency_count, latency_sum_us, latency_buckets, latency_counts
      from uptuple.service_hour
      union all
      select service_id, region, day::text, expected, up, degraded, down, inconclusive, missed, failed, canceled,
        latency_count, latency_sum_us, latency_buckets, latency_counts
      from uptuple.service_day
    ) total
    order by total.service_id, total.region, total.since`;
  return rows.map((row) => ({ ...row }));
}
