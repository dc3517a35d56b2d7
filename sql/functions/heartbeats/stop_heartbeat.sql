-- Expect nothing more of a service. Its token stays, so that a job that goes on calling gets no error. Does nothing for one that is probed.
--
-- Called by stop_service, which holds the service's lock. Writes heartbeat.
create or replace function uptuple.stop_heartbeat(service_id bigint)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $function$
  update uptuple.heartbeat
  set expected_at = null, due_at = null, run_started_at = null, run_due_at = null
  where heartbeat.service_id = $1;
$function$;

comment on function uptuple.stop_heartbeat(bigint) is 'Expects nothing more of a service that reports by itself.';

revoke execute on function uptuple.stop_heartbeat(bigint) from public;
