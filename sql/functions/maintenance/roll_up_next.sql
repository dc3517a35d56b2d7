-- Roll up one hour, given by its first epoch second, of the next lot of services after one; with its last hour the day as well.
--
-- A lot is at most 5,000 services with about 400,000 windows, a second's work. In the order of the services' ids, so that whoever calls can
-- stop between two lots and go on later. Services that were removed before the day began are left out. Answers how many of the lot had
-- windows, and the last service; null when none was left. Called by roll_up and rebuild_roll_ups, which hold the mark. Writes service_hour
-- and service_day.
create or replace function uptuple.roll_up_next(hour_start bigint, after_service bigint)
returns table (written integer, last_service bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $function$
declare
  hour constant timestamptz := to_timestamp(hour_start);
  service_ids bigint[];
  regions text[];
begin
  select array_agg(lot.id), array_agg(region), max(lot.id)
  into service_ids, regions, last_service
  from (
    select next.id, next.regions, sum(next.windows) over (order by next.id rows between unbounded preceding and current row) - next.windows as before
    from (
      select service.id, service.regions, 3600 / service.interval_seconds as windows
      from uptuple.service
      where service.id > after_service
        and (service.removed_at is null or service.removed_at >= hour - interval '1 day')
      order by service.id
      limit 5000
    ) next
  ) lot
  cross join unnest(lot.regions) region
  where lot.before < 400000;

  written := 0;
  if last_service is not null then
    written := uptuple.roll_up_hours(service_ids, regions, array_fill(hour, array[cardinality(service_ids)]));
    if mod(hour_start + 3600, 86400) = 0 then
      perform uptuple.roll_up_days(service_ids, regions, array_fill((hour at time zone 'UTC')::date, array[cardinality(service_ids)]));
    end if;
  end if;
  return next;
end
$function$;

comment on function uptuple.roll_up_next(bigint, bigint) is
  'Rolls up an hour of the next lot of services, and with the last hour of a day the day. Answers the last of them, null if there was none.';

revoke execute on function uptuple.roll_up_next(bigint, bigint) from public;
