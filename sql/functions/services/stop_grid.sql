-- End the open row of a service's activity: no window is expected from now on.
--
-- A grid that never reached its first window leaves no row. Writes service_active. Called by start_grid, disable_service and
-- remove_service, which hold the service's lock.
create or replace function uptuple.stop_grid(service_id bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
begin
  delete from uptuple.service_active active
  where active.service_id = service_id and upper_inf(active.during) and lower(active.during) >= at;

  update uptuple.service_active active
  set during = tstzrange(lower(active.during), at)
  where active.service_id = service_id and upper_inf(active.during);
end
$function$;

comment on function uptuple.stop_grid(bigint) is 'Ends the open row of a service''s activity.';

revoke execute on function uptuple.stop_grid(bigint) from public;
