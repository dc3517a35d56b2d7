-- Take in what a service says of itself: that a run starts, has succeeded, or has failed. Answers the status it led to.
--
-- A start is no verdict: the run has grace to end. An end is one, and the next is expected an interval or a fire later. A start that
-- follows a start without an end gives no more time, so that a job that crashes and begins again is found out.
-- What changes nothing is not stored again: a success less than half an interval after the last one (by cron: before the next fire), a
-- failure likewise while the incident is open. So a service that calls every second for an hourly window has two rows an hour and not 3600,
-- and its uptime weighs hours and not calls. Of what is stored there is one a second: changes may go ahead by 5 s, then UT003 asks to slow down.
-- Race, two calls at once, or a call while check_heartbeats finds it overdue: the row of heartbeat is locked before anything is read.
-- Called by heartbeat and heartbeat_by_token. Writes heartbeat, and through record_results all the rest.
create or replace function uptuple.take_beat(service_id bigint, event text, exit_code integer, reason text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  burst constant integer := 5;
  beat uptuple.heartbeat;
  service uptuple.service;
  config jsonb;
  state uptuple.service_state;
  at timestamptz;
  grace interval;
  next_at timestamptz;
  failed constant boolean := event = 'fail' or coalesce(exit_code, 0) <> 0;
  run_ms real;
  is_news boolean;
  arrival bigint;
  slot bigint;
  said constant text := nullif(btrim(uptuple.printable(reason, 400), E' \t\r\n'), '');
begin
  select heartbeat.* into strict beat from uptuple.heartbeat where heartbeat.service_id = service_id for no key update;
  at := clock_timestamp();
  if beat.due_at is null then
    update uptuple.heartbeat set called_at = at, called_with = event, calls = heartbeat.calls + 1 where heartbeat.service_id = service_id;
    return 'PAUSED';
  end if;

  select watched.* into strict service from uptuple.service watched where watched.id = service_id;
  select revision.config into strict config
  from uptuple.service_revision revision
  where revision.service_id = service_id and revision.revision = service.revision;
  select current.* into strict state from uptuple.service_state current where current.service_id = service_id and current.region = service.regions[1];
  grace := make_interval(secs => (config ->> 'grace_seconds')::integer);

  if event = 'start' then
    update uptuple.heartbeat
    set run_started_at = at,
        run_due_at = coalesce(beat.run_due_at, at + grace),
        due_at = coalesce(beat.run_due_at, at + grace),
        called_at = at, called_with = event, calls = heartbeat.calls + 1
    where heartbeat.service_id = service_id;
    return state.status;
  end if;

  run_ms := extract(epoch from at - beat.run_started_at) * 1000;
  next_at := uptuple.next_beat(config, service.interval_seconds, at);
  is_news := case
    when failed then state.incident_id is null
    else state.status not in ('UP', 'DEGRADED') or state.failure_streak > 0
  end or case
    when config ? 'cron' then next_at > beat.expected_at
    else at >= beat.verdict_at + make_interval(secs => service.interval_seconds / 2.0)
  end;

  arrival := floor(extract(epoch from at));
  slot := greatest(arrival, beat.verdict_slot + 1);
  -- A slot further ahead than calls can bring it is from before a clock was set back: what is stored goes on behind it.
  if is_news and slot - arrival between burst + 1 and 60 then
    raise exception 'the heartbeat of % changes more often than once a second', quote_literal(service.name)
      using errcode = 'UT003', hint = 'Call once for each run, not in a loop.';
  end if;

  update uptuple.heartbeat
  set expected_at = next_at,
      due_at = next_at + grace,
      run_started_at = null,
      run_due_at = null,
      verdict_at = case when is_news then at else beat.verdict_at end,
      verdict_slot = case when is_news then slot else beat.verdict_slot end,
      called_at = at,
      called_with = case when failed then 'fail' else 'success' end,
      run_ms = coalesce(run_ms, beat.run_ms),
      calls = heartbeat.calls + 1
  where heartbeat.service_id = service_id;
  if not is_news then
    return state.status;
  end if;

  perform uptuple.ensure_partitions(slot, slot);
  perform uptuple.record_results(array[(
    service_id, service.regions[1], slot, null, service.revision,
    -- As long as the window was, so that a streak goes on however far apart its windows are.
    greatest(1, ceil(extract(epoch from at - beat.verdict_at)))::integer,
    'HEARTBEAT', case when failed then 'DOWN' else 'UP' end,
    case when coalesce(exit_code, 0) <> 0 then 'heartbeat.exit_code' when failed then 'heartbeat.failed' end,
    case
      when coalesce(exit_code, 0) <> 0 then format('it ended with exit code %s', exit_code)
      when failed then 'it reported a failure'
      else 'it reported success'
    end || coalesce(': ' || said, ''),
    run_ms, null, null, null, null, null, null, null
  )::uptuple.health_record]);

  return (
    select current.status from uptuple.service_state current
    where current.service_id = service_id and current.region = service.regions[1]
  );
end
$function$;

comment on function uptuple.take_beat(bigint, text, integer, text) is
  'Takes in what a service says of itself: success, start or fail. Answers the status it led to, or PAUSED.';

revoke execute on function uptuple.take_beat(bigint, text, integer, text) from public;
