-- Count the windows of (service, region) in stretches of time from the rows themselves: verdicts, gaps by name, latencies.
--
-- The one definition of what a roll-up holds, and what reports add to the roll-ups where there are none yet. Windows are the GRID results
-- and jobs of the time in which the service was active; checks outside the grid and records by hand count nowhere, so that uptime,
-- coverage and percentiles speak of the same checks. Latencies are those of windows that were UP or DEGRADED: how long a failure took says
-- nothing about how fast a service is. A service that reports by itself has no grid: each of its verdicts and gaps is a window. A job
-- that can no longer be claimed, two days later, is MISSED or FAILED; until then it is pending. Windows that start while the service is in
-- maintenance are not expected, and count in nothing. Reads service_active and, by the key of the window, result; job only where a window
-- has no verdict. Stretches: [from_slot, until_slot).
--
-- An index range for each stretch costs 2.2 us of CPU a check (20,000 services at 60 s, one hour, PostgreSQL 18, 128 MB of shared buffers,
-- rows in the page cache as those of the last hour are), of which the heap takes 1.4. Reading the day's partition from its beginning with
-- a hash aggregate costs 1.2 us a check and 0.16 us for every row of the day, 3.2 us on average, with a hash table of a million services.
create or replace function uptuple.tally(service_ids bigint[], regions text[], from_slots bigint[], until_slots bigint[])
returns table (
  service_id bigint,
  region text,
  from_slot bigint,
  expected integer,
  up integer,
  degraded integer,
  down integer,
  inconclusive integer,
  missed integer,
  failed integer,
  canceled integer,
  pending integer,
  latency_count integer,
  latency_sum_us bigint,
  latency_buckets smallint[],
  latency_counts integer[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  -- Known when the plan starts, so that only the partitions in between are opened.
  first_slot constant bigint := (select min(slot) from unnest(from_slots) slot);
  end_slot constant bigint := (select max(slot) from unnest(until_slots) slot);
  any_maintenance constant boolean := exists (
    select from uptuple.maintenance_occurrence occurrence
    where occurrence.cancelled_at is null and occurrence.during && tstzrange(to_timestamp(first_slot), to_timestamp(end_slot))
  );
  claimable_from constant bigint := extract(epoch from clock_timestamp() - interval '2 days 5 minutes');
begin
  return query
  select stretch.service_id, stretch.region, stretch.from_slot, grid.expected + seen.reported,
    seen.up, seen.degraded, seen.down, seen.inconclusive, gap.missed, gap.failed, gap.canceled, gap.pending,
    seen.latency_count, seen.latency_sum_us, seen.latency_buckets, seen.latency_counts
  from unnest(service_ids, regions, from_slots, until_slots) stretch (service_id, region, from_slot, until_slot)
  cross join lateral (
    select case when any_maintenance then uptuple.maintenance_slots(stretch.service_id, stretch.from_slot, stretch.until_slot) else '{}' end as slots
    offset 0
  ) maintained
  cross join lateral (
    select coalesce(sum(
        (part.until_slot - 1 - active.phase_seconds) / active.interval_seconds - (part.from_slot - 1 - active.phase_seconds) / active.interval_seconds
      ) filter (where active.probed), 0)::integer as expected,
      range_agg(int8range(part.from_slot, part.until_slot)) as active
    from uptuple.service_active active
    cross join lateral (
      select greatest(stretch.from_slot, ceil(extract(epoch from lower(active.during)))::bigint) as from_slot,
        least(stretch.until_slot, ceil(extract(epoch from upper(active.during)))::bigint) as until_slot
    ) whole
    cross join lateral unnest(
      int8multirange(int8range(whole.from_slot, greatest(whole.from_slot, whole.until_slot))) - maintained.slots
    ) span
    cross join lateral (select lower(span) as from_slot, upper(span) as until_slot) part
    where active.service_id = stretch.service_id and active.region = stretch.region
  ) grid
  cross join lateral (
    select coalesce(sum(part.reported), 0)::integer as reported,
      coalesce(sum(part.windows) filter (where part.verdict = 'UP'), 0)::integer as up,
      coalesce(sum(part.degraded), 0)::integer as degraded,
      coalesce(sum(part.windows) filter (where part.verdict = 'DOWN'), 0)::integer as down,
      coalesce(sum(part.windows) filter (where part.verdict = 'INCONCLUSIVE'), 0)::integer as inconclusive,
      coalesce(sum(part.windows) filter (where part.bucket is not null), 0)::integer as latency_count,
      coalesce(sum(part.sum_us) filter (where part.bucket is not null), 0)::bigint as latency_sum_us,
      coalesce(array_agg(part.bucket) filter (where part.bucket is not null), '{}') as latency_buckets,
      coalesce(array_agg(part.windows::integer) filter (where part.bucket is not null), '{}') as latency_counts
    from (
      select seen.verdict, case when seen.verdict = 'UP' then uptuple.latency_bucket(seen.latency_ms) end as bucket,
        count(*) as windows,
        count(*) filter (where seen.purpose = 'HEARTBEAT') as reported,
        count(*) filter (where seen.status = 'DEGRADED') as degraded,
        sum((seen.latency_ms::float8 * 1000)::bigint) as sum_us
      from (
        select result.status, result.purpose, result.latency_ms, case result.status when 'DEGRADED' then 'UP' else result.status end as verdict
        from uptuple.result
        where result.service_id = stretch.service_id
          and result.region = stretch.region
          and result.scheduled_slot >= stretch.from_slot
          and result.scheduled_slot < stretch.until_slot
          and result.scheduled_slot >= first_slot
          and result.scheduled_slot < end_slot
          and result.purpose = any ('{GRID,HEARTBEAT}')
          and result.scheduled_slot <@ grid.active
      ) seen
      group by seen.verdict, bucket
    ) part
  ) seen
  cross join lateral (
    select count(*) filter (where ended.state = 'MISSED')::integer as missed,
      count(*) filter (where ended.state = 'FAILED')::integer as failed,
      count(*) filter (where ended.state = 'CANCELED')::integer as canceled,
      count(*) filter (where ended.state = 'PENDING')::integer as pending
    from uptuple.job
    cross join lateral (
      select case
        when job.state in ('MISSED', 'FAILED', 'CANCELED') then job.state
        when job.scheduled_slot >= claimable_from then 'PENDING'
        when job.attempts = 0 then 'MISSED'
        else 'FAILED'
      end as state
    ) ended
    where grid.expected > seen.up + seen.down + seen.inconclusive
      and job.service_id = stretch.service_id
      and job.region = stretch.region
      and job.scheduled_slot >= stretch.from_slot
      and job.scheduled_slot < stretch.until_slot
      and job.scheduled_slot >= first_slot
      and job.scheduled_slot < end_slot
      and job.purpose = 'GRID'
      and job.state <> 'DONE'
      and job.scheduled_slot <@ grid.active
  ) gap;
end
$function$;

comment on function uptuple.tally(bigint[], text[], bigint[], bigint[]) is
  'Counts, from the rows themselves, the windows of each (service, region) from one epoch second up to and without another.';

revoke execute on function uptuple.tally(bigint[], text[], bigint[], bigint[]) from public;
