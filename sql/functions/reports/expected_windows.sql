-- The windows of a service that have started between two moments while it was active, by the record that its changes wrote.
-- What is still to come is not expected yet, and what starts while the service is in maintenance is not expected at all. Of a service that
-- reports by itself, the windows are its results: each is there once it has ended.
create or replace function uptuple.expected_windows(service_id bigint, since timestamptz, until timestamptz)
returns table (region text, slot bigint)
language sql
stable
set search_path = pg_catalog, pg_temp
as $function$
  select active.region, slot
  from (select uptuple.maintenance_between($1, $2, $3) as spans offset 0) maintained
  cross join uptuple.service_active active
  cross join lateral (
    select ceil(extract(epoch from greatest(lower(active.during), $2)))::bigint as first_second,
      ceil(extract(epoch from least(upper(active.during), $3, clock_timestamp())))::bigint - 1 as last_second
  ) span
  cross join lateral generate_series(
    span.first_second + mod(mod(active.phase_seconds - span.first_second, active.interval_seconds) + active.interval_seconds, active.interval_seconds),
    span.last_second,
    active.interval_seconds
  ) slot
  where active.service_id = $1 and active.probed and not to_timestamp(slot) <@ maintained.spans
  union all
  select result.region, result.scheduled_slot
  from (select uptuple.maintenance_between($1, $2, $3) as spans offset 0) maintained
  cross join uptuple.result
  where result.service_id = $1
    and result.purpose = 'HEARTBEAT'
    and result.scheduled_slot >= extract(epoch from $2)
    and result.scheduled_slot < extract(epoch from $3)
    and not to_timestamp(result.scheduled_slot) <@ maintained.spans;
$function$;

comment on function uptuple.expected_windows(bigint, timestamptz, timestamptz) is
  'The windows of a service, by id, that have started between two moments while it was active.';

revoke execute on function uptuple.expected_windows(bigint, timestamptz, timestamptz) from public;
