-- Take back the acknowledgement of an open incident: reminders and escalations count anew from now. False if there was none.
--
-- Nobody is told. Locks the service's state, as every writer of its notices does. Writes incident.
create or replace function uptuple.unacknowledge(service text default null, incident_id bigint default null)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  incident uptuple.incident;
begin
  incident := uptuple.find_open_incident(service, incident_id);
  update uptuple.incident known
  set acknowledged_at = null, acknowledged_by = null, acknowledged_note = null,
      waiting_since = clock_timestamp(), look_at = clock_timestamp()
  where known.id = incident.id and known.acknowledged_at is not null;
  return found;
end
$function$;

comment on function uptuple.unacknowledge(text, bigint) is
  'Take back the acknowledgement of the open incident of a service (or incident_id). Reminders and escalation begin anew. False if there was none.';

revoke execute on function uptuple.unacknowledge(text, bigint) from public;
grant execute on function uptuple.unacknowledge(text, bigint) to uptuple_operator;
