-- The windows of all enabled services that are probed, from those that start after one epoch second up to another, but none that had
-- ended by a third.
--
-- Due services come from the index on (interval, phase): for each interval in use, the phases that lie between two moments. Never a
-- scan of all services, and nothing that depends on statistics. Reads service. Called by enqueue_jobs.
create or replace function uptuple.windows_between(since_slot bigint, until_slot bigint, ended_by bigint)
returns table (slot bigint, service_id bigint, region text, revision integer, interval_seconds integer, due_at timestamptz)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
begin
  return query
  with recursive interval_in_use (seconds) as (
    (select service.interval_seconds from uptuple.service where service.enabled and service.probed order by service.interval_seconds limit 1)
    union all
    select (
      select service.interval_seconds from uptuple.service
      where service.enabled and service.probed and service.interval_seconds > interval_in_use.seconds
      order by service.interval_seconds limit 1
    )
    from interval_in_use
    where interval_in_use.seconds is not null
  ),
  reach as (
    select seconds, greatest(since_slot, ended_by - seconds) + 1 as from_slot from interval_in_use where seconds is not null
  ),
  span as materialized (
    select reach.seconds,
      cycle * reach.seconds as cycle_start,
      reach.from_slot - cycle * reach.seconds as from_phase,
      until_slot - cycle * reach.seconds as to_phase
    from reach, generate_series(reach.from_slot / reach.seconds, until_slot / reach.seconds) cycle
  )
  select span.cycle_start + service.phase_seconds, service.id, region_name, service.revision, service.interval_seconds,
    to_timestamp(span.cycle_start + service.phase_seconds + service.phase_ms / 1000.0)
  from span
  cross join lateral (
    select service.*
    from uptuple.service
    where service.enabled
      and service.probed
      and service.interval_seconds = span.seconds
      and service.phase_seconds between span.from_phase and span.to_phase
    offset 0
  ) service
  cross join unnest(service.regions) region_name
  where span.cycle_start + service.phase_seconds >= service.first_slot;
end
$function$;

comment on function uptuple.windows_between(bigint, bigint, bigint) is
  'Windows of enabled services that are probed, which start after since_slot and up to until_slot, without those that had ended by ended_by (epoch seconds).';

revoke execute on function uptuple.windows_between(bigint, bigint, bigint) from public;
