-- Bring the rules that results go by, kept beside the state of a service, to what the service says now.
--
-- Nothing is locked or written if they are the same. Race, a result waits for the state meanwhile: it reads the rules under the state's
-- lock, so it goes by the new ones. Called by whoever changes them, with the service's lock: after the cursor, jobs and the heartbeat, which
-- others take before states, and before maintenance and notices, which they take after. Writes service_state.
create or replace function uptuple.note_rules(service_id bigint)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $function$
  update uptuple.service_state state
  set enabled = service.enabled,
      failure_threshold = service.failure_threshold,
      recovery_threshold = service.recovery_threshold,
      damping = service.damping
  from uptuple.service
  where service.id = $1
    and state.service_id = service.id
    and (state.enabled, state.failure_threshold, state.recovery_threshold, state.damping)
      <> (service.enabled, service.failure_threshold, service.recovery_threshold, service.damping);
$function$;

comment on function uptuple.note_rules(bigint) is
  'Copies whether a service is enabled, its thresholds and its damping beside its state, where results read them.';

revoke execute on function uptuple.note_rules(bigint) from public;
