-- Count hours of services from the rows and put the totals in service_hour, whatever was there before.
--
-- The names of gaps come from the jobs; where those are no longer kept, the names that were counted while they were stay. Called by
-- roll_up_next and roll_up_late, which see to it that the rows are still there. Writes service_hour.
--
-- Hours that are empty now are found by comparing whole keys, so that only the key fits: by equality, a plan that was made while there were
-- none read all 48,000 hours of 2,000 services for one.
create or replace function uptuple.roll_up_hours(service_ids bigint[], regions text[], hours timestamptz[])
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $function$
declare
  from_slots bigint[];
  until_slots bigint[];
  jobs_gone_before constant timestamptz := coalesce((select gone_before from uptuple.retention where kind = 'jobs'), '-infinity');
  written integer;
begin
  select array_agg(extract(epoch from each.hour)::bigint order by each.position),
    array_agg(extract(epoch from each.hour)::bigint + 3600 order by each.position)
  into from_slots, until_slots
  from unnest(hours) with ordinality each (hour, position);

  with counted as materialized (
    select tally.*, to_timestamp(tally.from_slot) as hour
    from uptuple.tally(service_ids, regions, from_slots, until_slots) tally
  ),
  emptied as (
    delete from uptuple.service_hour old
    using counted
    where counted.expected = 0
      and (old.service_id, old.region, old.hour) >= (counted.service_id, counted.region, counted.hour)
      and (old.service_id, old.region, old.hour) <= (counted.service_id, counted.region, counted.hour)
  )
  insert into uptuple.service_hour as old (
    service_id, region, hour, expected, up, degraded, down, inconclusive, missed, failed, canceled,
    latency_count, latency_sum_us, latency_buckets, latency_counts
  )
  select counted.service_id, counted.region, counted.hour, counted.expected, counted.up, counted.degraded, counted.down,
    counted.inconclusive, counted.missed, counted.failed, counted.canceled,
    counted.latency_count, counted.latency_sum_us, counted.latency_buckets, counted.latency_counts
  from counted
  where counted.expected > 0
  on conflict on constraint service_hour_pkey do update
    set expected = excluded.expected,
        up = excluded.up,
        degraded = excluded.degraded,
        down = excluded.down,
        inconclusive = excluded.inconclusive,
        missed = case when old.hour < jobs_gone_before then old.missed else excluded.missed end,
        failed = case when old.hour < jobs_gone_before then old.failed else excluded.failed end,
        canceled = case when old.hour < jobs_gone_before then old.canceled else excluded.canceled end,
        latency_count = excluded.latency_count,
        latency_sum_us = excluded.latency_sum_us,
        latency_buckets = excluded.latency_buckets,
        latency_counts = excluded.latency_counts;
  get diagnostics written = row_count;
  return written;
end
$function$;

comment on function uptuple.roll_up_hours(bigint[], text[], timestamptz[]) is
  'Counts hours of (service, region) from the rows and stores the totals. Returns how many had any window.';

revoke execute on function uptuple.roll_up_hours(bigint[], text[], timestamptz[]) from public;
