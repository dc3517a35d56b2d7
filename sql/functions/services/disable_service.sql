-- Stop making jobs for a service. Jobs that exist finish, and their results are stored without moving its state.
--
-- An open incident is closed as withdrawn, and who got FAILED gets a RECOVERED that says so. Writes service,
-- service_active, service_state, incident, event and delivery in one transaction.
create or replace function uptuple.disable_service(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  service constant uptuple.service := uptuple.find_service(name);
begin
  if not service.enabled then
    return false;
  end if;
  perform uptuple.stop_service(service.id, 'the service was disabled');
  return true;
end
$function$;

comment on function uptuple.disable_service(text) is
  'Stop watching a service: shown as PAUSED, its open incident is withdrawn. False if it was disabled already.';

revoke execute on function uptuple.disable_service(text) from public;
grant execute on function uptuple.disable_service(text) to uptuple_operator;
