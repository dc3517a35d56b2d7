import type { TestSql } from "../../support/database.ts";
import { stopAutovacuum } from "./plans.ts";

/** Services of which there are checks in great number. */
export const OTHERS = 2000;
export const CHECKS_EACH = 100;
/** As many jobs, and as many results. */
export const MANY = OTHERS * CHECKS_EACH;

/** Partitions from yesterday to tomorrow; no autovacuum analyses what a test fills. */
export async function makePartitions(sql: TestSql): Promise<void> {
  await sql`
    select uptuple.ensure_partitions(now_second - 86400, now_second + 86400)
    from (select extract(epoch from clock_timestamp())::bigint as now_second) clock`;
  await stopAutovacuum(sql);
}

/** Services that are checked once a minute, and were yesterday. */
export async function addServices(sql: TestSql, name: string, count: number): Promise<void> {
  await sql`
    with added as (
      insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
      select ${name} || ' ' || number, 60, 0, 0, 0, 3, 1 from generate_series(1, ${count}) number
      returning id
    ),
    revised as (
      insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
      select id, 1, 'http', 'http://127.0.0.1/', uptuple.http_config('GET', '{}', null, '200-299', 0, false), 10000 from added
    ),
    active as (
      insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during)
      select id, 'default', 60, 0, tstzrange(clock_timestamp() - interval '3 days', null) from added
    )
    insert into uptuple.service_state (service_id, region) select id, 'default' from added`;
}

/** Jobs that wait, of all services of that name, in `each` windows from an epoch second on. */
export async function addJobs(sql: TestSql, name: string, from: number, every: number, each: number): Promise<void> {
  await sql`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
    select slot, service.id, to_timestamp(slot), 1, 60, 'default'
    from (select ${from} + number * ${every} as slot from generate_series(0, ${each - 1}) number) given
    cross join (select id from uptuple.service where starts_with(name, ${name}) order by id) service`;
}

/** Results of those windows, every tenth of them DOWN. */
export async function addResults(sql: TestSql, name: string, from: number, every: number, each: number): Promise<void> {
  await sql`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, latency_ms, region, purpose, status)
    select ${from} + number * ${every}, service.id, clock_timestamp(), 1, 10, 'default', 'GRID',
      case when mod(number, 10) = 9 then 'DOWN' else 'UP' end
    from generate_series(0, ${each - 1}) number
    cross join (select id from uptuple.service where starts_with(name, ${name}) order by id) service`;
}
