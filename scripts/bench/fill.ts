import type { Sql } from "../../src/database/client.ts";

/**
 * Adds services with one statement, as `add_service` would one by one, but without their first checks: a million in a minute
 * and not in an hour. Their names are `service 1` and so on; phases are spread over the interval. A failing one is checked again in
 * its next window and not sooner, so that there are as many jobs as windows.
 *
 * @param count How many services there shall be; those there are already count.
 * @param intervalSeconds Their interval.
 */
export async function fillServices(sql: Sql, count: number, intervalSeconds: number): Promise<void> {
  await sql`select uptuple.ensure_partitions()`;
  await sql`
    with added as (
      insert into uptuple.service (
        name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold, confirm_seconds
      )
      select 'service ' || number, ${intervalSeconds}, (hashint8extended(number, 1) & 2147483647) % ${intervalSeconds},
        (hashint8extended(number, 2) & 2147483647) % 1000, extract(epoch from clock_timestamp())::bigint, 3, 1, ${intervalSeconds}
      from generate_series((select count(*) from uptuple.service) + 1, ${count}) number
      returning id, interval_seconds, phase_seconds
    ),
    revised as (
      insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
      select id, 1, 'http', 'https://www.example.com/health/' || id, uptuple.http_config('GET', '{}', null, '200-299', 0, false), 10000
      from added
    ),
    active as (
      insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during)
      select id, 'default', interval_seconds, phase_seconds, tstzrange(clock_timestamp(), null) from added
    )
    insert into uptuple.service_state (service_id, region)
    select id, 'default' from added`;
}

/**
 * Makes one due job for each of the first `count` services, for the present second, in the order in which `enqueue_jobs` would.
 * Takes a second longer than that takes, so that the next call is for another second.
 */
export async function fillDueJobs(sql: Sql, count: number): Promise<void> {
  await sql`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
    select extract(epoch from clock_timestamp())::bigint - 1, service.id,
      clock_timestamp() - make_interval(secs => service.phase_ms / 1000.0), service.revision, service.interval_seconds, 'default'
    from uptuple.service
    where service.id <= (select id from uptuple.service order by id offset ${count - 1} limit 1)
    order by service.phase_ms desc, service.id`;
  await sql`select pg_sleep(1)`;
}
