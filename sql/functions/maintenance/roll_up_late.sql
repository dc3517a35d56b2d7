-- Count anew the hours that had unfinished jobs when they were rolled up, and the days they belong to, where those jobs have ended.
--
-- A job that nobody can claim any more, after two days, counts as ended. At most 5,000 hours a call. Race, a window of such an hour gets
-- another job meanwhile: its note is younger than the one read here and stays. Called by roll_up, which holds the mark.
-- Writes service_hour, service_day and unfinished_hour.
--
-- Jobs are looked up by their windows: through the index of live jobs, which a plan took that was made while there were none, 200,000
-- waiting ones of others were read for one hour.
create or replace function uptuple.roll_up_late(rolled_until bigint)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  ended_before constant timestamptz := clock_timestamp() - interval '2 days 1 hour 5 minutes';
  until constant timestamptz := to_timestamp(rolled_until);
  service_ids bigint[];
  regions text[];
  hours timestamptz[];
  notes timestamptz[];
  day_services bigint[];
  day_regions text[];
  days date[];
  written integer;
begin
  select array_agg(late.service_id), array_agg(late.region), array_agg(late.hour), array_agg(late.noted_at)
  into service_ids, regions, hours, notes
  from (
    select noted.service_id, noted.region, noted.hour, noted.noted_at
    from uptuple.unfinished_hour noted
    cross join lateral (select extract(epoch from noted.hour)::bigint as hour_start) bounds
    where noted.hour < ended_before
      or not exists (
        select from uptuple.job
        where job.service_id = noted.service_id
          and job.region = noted.region
          and job.scheduled_slot >= bounds.hour_start
          and job.scheduled_slot < bounds.hour_start + 3600
          -- Said so that the claim's index does not fit.
          and job.state <> all ('{DONE,FAILED,CANCELED,MISSED}')
          and job.purpose = 'GRID'
      )
    order by noted.service_id, noted.region, noted.hour
    limit 5000
  ) late;
  if service_ids is null then
    return 0;
  end if;

  select uptuple.roll_up_hours(array_agg(late.service_id), array_agg(late.region), array_agg(late.hour))
  into written
  from unnest(service_ids, regions, hours) late (service_id, region, hour)
  where late.hour < until
  having count(*) > 0;

  select array_agg(late.service_id), array_agg(late.region), array_agg(late.day)
  into day_services, day_regions, days
  from (
    select distinct given.service_id, given.region, (given.hour at time zone 'UTC')::date as day
    from unnest(service_ids, regions, hours) given (service_id, region, hour)
  ) late
  where (late.day + 1)::timestamp at time zone 'UTC' <= until;
  if days is not null then
    perform uptuple.roll_up_days(day_services, day_regions, days);
  end if;

  delete from uptuple.unfinished_hour noted
  using unnest(service_ids, regions, hours, notes) late (service_id, region, hour, noted_at)
  where noted.service_id = late.service_id and noted.region = late.region and noted.hour = late.hour and noted.noted_at = late.noted_at;
  return coalesce(written, 0);
end
$function$;

comment on function uptuple.roll_up_late(bigint) is
  'Counts anew the hours, rolled up to an epoch second, whose unfinished jobs have ended since. Returns how many.';

revoke execute on function uptuple.roll_up_late(bigint) from public;
