-- Watch a service again: checked at once, unless it reports by itself, then on a new grid. One that is enabled already is left as it is.
--
-- Its state starts as UNKNOWN with no streak, since nobody looked meanwhile. Locks the cursor, the job and last the state, in the order of
-- everybody else. Writes service, service_active, a job and service_state.
create or replace function uptuple.enable_service(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  service constant uptuple.service := uptuple.find_service(name);
begin
  if service.enabled then
    return false;
  end if;
  update uptuple.service changed
  set enabled = true, updated_at = clock_timestamp()
  where changed.id = service.id;
  perform uptuple.start_grid(service.id, service.interval_seconds);
  if service.probed then
    perform uptuple.enqueue_request(service.id, 'FIRST');
  end if;
  perform uptuple.start_heartbeat(service.id);
  perform uptuple.note_rules(service.id);
  update uptuple.service_state state
  set status = 'UNKNOWN', since = clock_timestamp(), failure_streak = 0, success_streak = 0, verdict_at = null
  where state.service_id = service.id;
  return true;
end
$function$;

comment on function uptuple.enable_service(text) is 'Watch a service again, from now on. False if it was enabled already.';

revoke execute on function uptuple.enable_service(text) from public;
grant execute on function uptuple.enable_service(text) to uptuple_operator;
