-- Whether a service, by id, is in maintenance at an instant: from its first instant on, and no longer at its end.
--
-- On the hot path apply_results asks only where an occurrence is under way: a function's call costs more than that look into the index.
create or replace function uptuple.in_maintenance(service_id bigint, at timestamptz)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
begin
  return in_maintenance.at <@ uptuple.maintenance_between(in_maintenance.service_id, in_maintenance.at, in_maintenance.at);
end
$function$;

comment on function uptuple.in_maintenance(bigint, timestamptz) is 'Whether a service, by id, is in maintenance at an instant.';

revoke execute on function uptuple.in_maintenance(bigint, timestamptz) from public;
