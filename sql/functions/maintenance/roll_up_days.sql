-- Add up the hours of days (UTC) of services and put the totals in service_day, whatever was there before.
--
-- Called by roll_up_next at the last hour of a day and by roll_up_late. Reads service_hour, writes service_day. Rows are compared whole, so that
-- only the key fits: through the index of hours, which a plan took that was made while there were none, each of 2,000 services read all 48,000.
create or replace function uptuple.roll_up_days(service_ids bigint[], regions text[], days date[])
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
  written integer;
begin
  insert into uptuple.service_day (
    service_id, region, day, expected, up, degraded, down, inconclusive, missed, failed, canceled,
    latency_count, latency_sum_us, latency_buckets, latency_counts
  )
  select given.service_id, given.region, given.day, total.expected, total.up, total.degraded, total.down, total.inconclusive,
    total.missed, total.failed, total.canceled, total.latency_count, total.latency_sum_us, histogram.buckets, histogram.counts
  from unnest(service_ids, regions, days) given (service_id, region, day)
  cross join lateral (
    select given.day::timestamp at time zone 'UTC' as since, (given.day + 1)::timestamp at time zone 'UTC' as until
  ) bounds
  cross join lateral (
    select sum(expected) as expected, sum(up) as up, sum(degraded) as degraded, sum(down) as down, sum(inconclusive) as inconclusive,
      sum(missed) as missed, sum(failed) as failed, sum(canceled) as canceled,
      sum(latency_count) as latency_count, sum(latency_sum_us) as latency_sum_us
    from uptuple.service_hour of_day
    where (of_day.service_id, of_day.region, of_day.hour) >= (given.service_id, given.region, bounds.since)
      and (of_day.service_id, of_day.region, of_day.hour) < (given.service_id, given.region, bounds.until)
    having count(*) > 0
  ) total
  cross join lateral (
    select coalesce(array_agg(merged.bucket), '{}') as buckets, coalesce(array_agg(merged.windows), '{}') as counts
    from (
      select part.bucket, sum(part.windows)::integer as windows
      from uptuple.service_hour of_day
      cross join lateral unnest(of_day.latency_buckets, of_day.latency_counts) part (bucket, windows)
      where (of_day.service_id, of_day.region, of_day.hour) >= (given.service_id, given.region, bounds.since)
        and (of_day.service_id, of_day.region, of_day.hour) < (given.service_id, given.region, bounds.until)
      group by part.bucket
    ) merged
  ) histogram
  on conflict on constraint service_day_pkey do update
    set expected = excluded.expected,
        up = excluded.up,
        degraded = excluded.degraded,
        down = excluded.down,
        inconclusive = excluded.inconclusive,
        missed = excluded.missed,
        failed = excluded.failed,
        canceled = excluded.canceled,
        latency_count = excluded.latency_count,
        latency_sum_us = excluded.latency_sum_us,
        latency_buckets = excluded.latency_buckets,
        latency_counts = excluded.latency_counts;
  get diagnostics written = row_count;
  return written;
end
$function$;

comment on function uptuple.roll_up_days(bigint[], text[], date[]) is
  'Adds up the hours of days of (service, region) and stores the totals. Returns how many had any.';

revoke execute on function uptuple.roll_up_days(bigint[], text[], date[]) from public;
