-- Say that somebody looks after the open incident of a service, or the one of that id: no more reminders, no escalation.
--
-- Who was told of the failure is told who it is. False if somebody had acknowledged it before: the first one stands. Race, a reminder is
-- written at the same moment: both hold the lock of the service's state, so it comes before the acknowledgement or not at all. Writes
-- incident, event and delivery.
create or replace function uptuple.acknowledge(
  service text default null,
  incident_id bigint default null,
  "by" text default session_user,
  note text default null
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  incident uptuple.incident;
  at timestamptz;
  times_before integer;
begin
  perform uptuple.check_name('by', "by");
  incident := uptuple.find_open_incident(service, incident_id);
  if incident.acknowledged_at is not null then
    return false;
  end if;
  at := clock_timestamp();
  note := nullif(btrim(uptuple.printable(note, 500)), '');
  update uptuple.incident known
  set acknowledged_at = at, acknowledged_by = "by", acknowledged_note = note, look_at = case when withheld_because is not null then look_at end
  where known.id = incident.id;

  if incident.withheld_because is null then
    select count(*) into times_before
    from uptuple.event
    where event.incident_id = incident.id and event.kind = 'incident.acknowledged';
    perform uptuple.write_events(array[(
      'incident.acknowledged', 'info', incident.service_id, incident.region, incident.id,
      format('incident:%s:incident.acknowledged:%s', incident.id, times_before + 1), at, null,
      jsonb_build_object(
        'acknowledged_by', "by",
        'note', note,
        'failing_since', uptuple.iso_time(incident.started_at),
        'down_seconds', round(extract(epoch from at - incident.started_at), 3)
      )
    )::uptuple.notice]);
  end if;
  return true;
end
$function$;

comment on function uptuple.acknowledge(text, bigint, text, text) is
  'Say that somebody looks after the open incident of a service (or incident_id): stops reminders and escalation, and tells who was told of it '
  'who that is (by, default the login) and a note. False if it was acknowledged before.';

revoke execute on function uptuple.acknowledge(text, bigint, text, text) from public;
grant execute on function uptuple.acknowledge(text, bigint, text, text) to uptuple_operator;
