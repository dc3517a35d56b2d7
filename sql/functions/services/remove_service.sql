-- Remove a service: its name is free at once, its history stays, late results harm nothing.
--
-- Jobs that wait are cancelled; a running one is stored when it answers and moves nothing. An open incident is withdrawn as by
-- disable_service. Race, enqueue_jobs makes a window meanwhile: the cursor is taken first, so that its job is cancelled too.
-- Writes service, job, service_active, service_state, incident, event and delivery.
create or replace function uptuple.remove_service(name text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  service constant uptuple.service := uptuple.find_service(name);
begin
  perform 1 from uptuple.enqueue_cursor for no key update;
  perform uptuple.cancel_jobs(service => name, reason => 'the service was removed', running => false);
  perform uptuple.stop_service(service.id, 'the service was removed');
  update uptuple.service changed
  set removed_at = clock_timestamp()
  where changed.id = service.id;
  return service.id;
end
$function$;

comment on function uptuple.remove_service(text) is
  'Remove a service; its name is free, its history stays. Returns its id. An open incident is withdrawn.';

revoke execute on function uptuple.remove_service(text) from public;
grant execute on function uptuple.remove_service(text) to uptuple_operator;
