-- Expect a service that reports by itself as its present revision says. Does nothing for a service that is probed.
--
-- Where that is new, the time counts from now, not from a report that was made under other rules, and not from the first one either: a job
-- that was never set up is what one wants to hear of. Where neither revision nor interval has changed, nothing does. A run that is under
-- way goes on, with the new grace. By cron, the longest time between its next ten fires becomes the interval of the service: what other
-- rules count in intervals, such as when nothing is known any more, then fits. Called by add_service, update_service and enable_service,
-- which hold the service's lock. Writes heartbeat and service.
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
  at := clock_timestamp();
  select revision.config into strict config
  from uptuple.service_revision revision
  where revision.service_id = service_id and revision.revision = service.revision;

  if config ? 'cron' and (beat.revision is distinct from service.revision or beat.interval_seconds is distinct from service.interval_seconds) then
    update uptuple.service changed
    set interval_seconds = fires.longest
    from (
      select least(coalesce(max(extract(epoch from gap.length)), 86400), 31622400)::integer as longest
      from (
        select fire_at - lag(fire_at) over (order by fire_at) as length
        from uptuple.cron_upcoming(config ->> 'cron', config ->> 'zone', at, 10) fire_at
      ) gap
    ) fires
    where changed.id = service_id
    returning changed.interval_seconds into service.interval_seconds;
  end if;

  if not service.enabled
    or beat.due_at is not null and (beat.revision, beat.interval_seconds) = (service.revision, service.interval_seconds) then
    return;
  end if;
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
