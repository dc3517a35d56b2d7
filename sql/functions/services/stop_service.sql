-- What disabling and removing have in common: no more windows, and an open incident is withdrawn.
--
-- Takes the cursor first, so that no enqueue_jobs that read the service as enabled is still writing, and then the state's lock, as every
-- writer of notices does; a result that waits for it is stored and moves nothing. Called by disable_service and remove_service, which hold
-- the service's lock.
create or replace function uptuple.stop_service(service_id bigint, why text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  perform 1 from uptuple.enqueue_cursor for no key update;
  update uptuple.service
  set enabled = false, updated_at = clock_timestamp()
  where service.id = service_id;
  perform uptuple.stop_grid(service_id);
  perform uptuple.stop_heartbeat(service_id);
  perform uptuple.note_rules(service_id);
  perform uptuple.withdraw_incidents(service_id, why);
end
$function$;

comment on function uptuple.stop_service(bigint, text) is 'Ends the windows of a service and withdraws its open incident.';

revoke execute on function uptuple.stop_service(bigint, text) from public;
