import type { Sql } from "../../src/database/client.ts";
import { fillServices } from "./fill.ts";

/** How much history there is. */
export interface HistorySize {
  services: number;
  days: number;
  /** Seconds between two checks. */
  every: number;
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Results themselves are there for so long, in seconds; for the first service a day. */
const RESULTS_FOR = 2 * HOUR;

/**
 * Adds services in groups of 25 and their past as roll-ups have it, made up and not counted: by the hour, by the day, and the results of
 * the last hours. One service in fifty was added ten days ago, one in a hundred is down, and each had a few bad hours.
 */
export async function fillHistory(sql: Sql, { services, days, every }: HistorySize): Promise<void> {
  await fillServices(sql, services, every);
  const [clock] = await sql<{ now: number }[]>`select floor(extract(epoch from clock_timestamp()))::float8 as now`;
  const now = clock?.now ?? NaN;
  const perHour = HOUR / every;
  const thisHour = now - now % HOUR;
  const today = now - now % DAY;
  const start = today - (days - 1) * DAY;
  await sql`
    update uptuple.service set group_name = 'Group ' || chr(65 + (id / 25)::integer % 26) || (id / 650)::text, tags = array['tier-' || id % 3]`;
  await sql`
    update uptuple.service_active
    set during = tstzrange(to_timestamp(case when service_id % 50 = 0 then ${
    today - 10 * DAY
  }::bigint else ${start}::bigint end), null)`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = ${now}`;
  await sql`update uptuple.roll_up_mark set rolled_from = ${start}, rolled_until = ${thisHour}`;
  await sql`
    insert into uptuple.service_hour (
      service_id, hour, latency_sum_us, expected, up, degraded, down, inconclusive, missed, failed, canceled, latency_count, region,
      latency_buckets, latency_counts
    )
    select service.id, to_timestamp(hour), (verdict.up * (20000 + service.id % 40 * 4000) * (1 + random() / 3))::bigint, verdict.expected, verdict.up, 0,
      verdict.expected - verdict.up - verdict.gaps, 0, verdict.gaps, 0, 0, verdict.up, 'default',
      array(select (30 + service.id % 20 + bucket)::smallint from generate_series(1, 10) bucket),
      array(select verdict.up / 10 from generate_series(1, 10))
    from generate_series(${start}::bigint, ${thisHour - HOUR}::bigint, ${HOUR}) hour
    cross join uptuple.service
    -- Drawn for each hour of each service, which a subquery that names neither would not be.
    cross join lateral (
      select ${perHour}::integer as expected, random() as luck, random() as gap_luck where hour > 0 and service.id > 0
    ) chance
    cross join lateral (
      select chance.expected, case when chance.gap_luck < 0.001 then chance.expected / 4 else 0 end as gaps
    ) seen
    cross join lateral (
      select seen.expected, seen.gaps,
        (seen.expected - seen.gaps) - case when chance.luck < 0.002 then (seen.expected - seen.gaps) / 3 else 0 end as up
    ) verdict
    where service.id % 50 <> 0 or hour >= ${today - 10 * DAY}`;
  await sql`
    insert into uptuple.service_day (
      service_id, latency_sum_us, day, expected, up, degraded, down, inconclusive, missed, failed, canceled, latency_count, region,
      latency_buckets, latency_counts
    )
    select service_id, sum(latency_sum_us), (hour at time zone 'UTC')::date, sum(expected), sum(up), 0, sum(down), 0, sum(missed), 0, 0,
      sum(latency_count), region, min(latency_buckets), array(select (sum(up) / 10)::integer from generate_series(1, 10))
    from uptuple.service_hour
    where hour < to_timestamp(${today})
    group by service_id, region, (hour at time zone 'UTC')::date
    order by (hour at time zone 'UTC')::date, service_id`;
  await sql`select uptuple.ensure_partitions(${now - DAY}, ${now + DAY})`;
  await sql`
    insert into uptuple.result (
      scheduled_slot, service_id, applied_order, recorded_at, revision, latency_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, http_status,
      region, purpose, status, code, reason, worker, detail
    )
    select slot, service.id, cycle, to_timestamp(slot) + interval '0.4 s', 1, 15 + service.id % 40 * 4 + random() * 12, 0.3, 0.4, 3.1, 10.5, 200,
      'default', 'GRID', 'UP', null, 'HTTP 200', 'host-1-4711', '{"address": "10.0.0.1", "family": 4, "transport": "node"}'
    from generate_series(${now - DAY - now % every}::bigint, ${now}::bigint, ${every}) cycle
    cross join uptuple.service
    cross join lateral (select cycle + service.phase_seconds as slot) at
    where slot < ${now - 2} and (slot >= ${now - RESULTS_FOR} or service.id = 1)
    order by slot`;
  await sql`
    update uptuple.service_state
    set status = 'UP', since = clock_timestamp() - make_interval(hours => 1 + (service_id * 37 % 900)::integer), verdict_at = clock_timestamp(),
      checked_at = clock_timestamp() - make_interval(secs => service_id % ${every}::integer), checked_status = 'UP', checked_reason = 'HTTP 200',
      checked_latency_ms = 15 + service_id % 40 * 4`;
  await sql`
    with opened as (
      insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order, code, reason)
      select id, 'default', clock_timestamp() - interval '25 minutes', clock_timestamp() - interval '24 minutes', 1, 'timeout.headers',
        'no answer within 10 s'
      from uptuple.service where id % 100 = 7
      returning id, service_id
    )
    update uptuple.service_state
    set status = 'DOWN', since = clock_timestamp() - interval '24 minutes', failure_streak = 3, incident_id = opened.id, checked_status = 'DOWN',
      checked_reason = 'no answer within 10 s'
    from opened
    where service_state.service_id = opened.service_id`;
  await sql`select uptuple.report_worker('host-1-4711', 'default', '{probe,deliver,web}', 1)`;
  await sql`vacuum (analyze)`;
}
