-- Expect a service that reports by itself as its present revision says. Does nothing for a service that is probed.
--
-- Where that is new, the time counts from now, not from a report that was made under other rules, and not from the first one either: a job
-- that was never set up is what one wants to hear of. Where neither revision nor interval has changed, nothing does. A run that is under
-- way goes on, with the new grace. Called by add_service, update_service and enable_service, which hold the service's lock. Writes heartbeat.
create or replace function uptuple.start_heartbeat(service_id bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  service uptuple.service;
  config jsonb;
  beat uptuple.heartbeat;
  grace interval;
  at timestamptz;
begin
  select watched.* into strict service from uptuple.service watched where watched.id = service_id;
  if service.probed then
    return;
  end if;
  insert into uptuple.heartbeat (service_id) values (service_id) on conflict on constraint heartbeat_pkey do nothing;
  select heartbeat.* into strict beat from uptuple.heartbeat where heartbeat.service_id = service_id for no key update;
  if not service.enabled
    or beat.due_at is not null and (beat.revision, beat.interval_seconds) = (service.revision, service.interval_seconds) then
    return;
  end if;

  at := clock_timestamp();
  select revision.config into strict config
  from uptuple.service_revision revision
  where revision.service_id = service_id and revision.revision = service.revision;
  grace := make_interval(secs => (config ->> 'grace_seconds')::integer);

  update uptuple.heartbeat
  set revision = service.revision,
      interval_seconds = service.interval_seconds,
      expected_at = uptuple.next_beat(config, service.interval_seconds, at),
      run_due_at = case when beat.run_due_at is not null then greatest(at, beat.run_started_at + grace) end,
      due_at = coalesce(
        case when beat.run_due_at is not null then greatest(at, beat.run_started_at + grace) end,
        uptuple.next_beat(config, service.interval_seconds, at) + grace
      ),
      verdict_at = case when beat.due_at is null then at else beat.verdict_at end
  where heartbeat.service_id = service_id;
end
$function$;

comment on function uptuple.start_heartbeat(bigint) is 'Expects a service that reports by itself, from now on, as its present revision says.';

revoke execute on function uptuple.start_heartbeat(bigint) from public;
