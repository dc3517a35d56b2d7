-- What it means that one heartbeat is overdue, as a record for record_results, and when it is expected next.
--
-- The next window is the first whose grace is not over yet: by interval from the window that was missed, or from the start of the run
-- that did not end; by cron the next fire, beyond a change of the clocks if that is what it fell into. Called by check_heartbeats, which
-- has locked the row. Writes heartbeat.
create or replace function uptuple.judge_overdue(
  service_id bigint,
  region text,
  revision integer,
  interval_seconds integer,
  config jsonb,
  grace interval,
  deaf tstzrange,
  at timestamptz
)
returns uptuple.health_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  beat uptuple.heartbeat;
  started_at timestamptz;
  unsure_until timestamptz;
  was_deaf boolean;
  next_at timestamptz;
  slot bigint;
  status text := 'DOWN';
  code text;
  reason text;
begin
  select heartbeat.* into strict beat from uptuple.heartbeat where heartbeat.service_id = service_id;
  started_at := beat.run_due_at - grace;
  was_deaf := deaf && tstzrange(coalesce(started_at, beat.expected_at - interval '1 minute'), beat.due_at, '[]');

  if started_at is not null then
    code := 'heartbeat.not_ended';
    reason := format('the run that started at %s did not end within %s', uptuple.iso_time(started_at), uptuple.duration_text(extract(epoch from grace)));
    next_at := uptuple.next_beat(config, interval_seconds, started_at);
  else
    code := 'heartbeat.overdue';
    reason := format(
      'it was to report by %s, and %s of grace are over', uptuple.iso_time(beat.expected_at), uptuple.duration_text(extract(epoch from grace))
    );
    next_at := beat.expected_at;
    unsure_until := uptuple.unsure_until(config ->> 'cron', config ->> 'zone', beat.expected_at);
  end if;

  if unsure_until is not null then
    status := 'INCONCLUSIVE';
    code := 'heartbeat.clock_change';
    reason := format(
      'the run of %s falls into a change of the clocks in %s, where programs differ on whether it happens',
      uptuple.iso_time(beat.expected_at), config ->> 'zone'
    );
  elsif was_deaf then
    status := 'INCONCLUSIVE';
    code := 'heartbeat.not_heard';
    reason := format(
      'the monitor was not at work from %s to %s, and may have missed the report', uptuple.iso_time(lower(deaf)), uptuple.iso_time(upper(deaf))
    );
  end if;

  if next_at + grace <= at then
    next_at := case
      when config ? 'cron' then coalesce(
        uptuple.cron_next(config ->> 'cron', config ->> 'zone', greatest(next_at, at - grace, unsure_until - interval '1 s')),
        at + interval '400 days'
      )
      else next_at + make_interval(secs => interval_seconds) * (floor(extract(epoch from at - grace - next_at) / interval_seconds) + 1)
    end;
  end if;

  slot := greatest(floor(extract(epoch from at))::bigint, beat.verdict_slot + 1);
  update uptuple.heartbeat
  set expected_at = next_at,
      due_at = next_at + grace,
      run_started_at = null,
      run_due_at = null,
      verdict_at = at,
      verdict_slot = slot
  where heartbeat.service_id = service_id;

  return (
    service_id, region, slot, null, revision, greatest(1, ceil(extract(epoch from at - beat.verdict_at)))::integer,
    'HEARTBEAT', status, code, reason, null, null, null, null, null, null, null, null
  )::uptuple.health_record;
end
$function$;

comment on function uptuple.judge_overdue(bigint, text, integer, integer, jsonb, interval, tstzrange, timestamptz) is
  'What it means that a heartbeat is overdue, as a record; moves it on to its next window.';

revoke execute on function uptuple.judge_overdue(bigint, text, integer, integer, jsonb, interval, tstzrange, timestamptz) from public;
