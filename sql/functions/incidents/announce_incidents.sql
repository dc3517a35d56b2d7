-- Tell of open incidents that were withheld until now: their FAILED is written, and reminders and escalations count from now.
--
-- The caller holds the locks of the services' states and of the incidents. Called by tell_due. Writes incident, event and delivery.
create or replace function uptuple.announce_incidents(incident_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
begin
  if incident_ids = '{}' then
    return;
  end if;
  update uptuple.incident
  set withheld_because = null, waiting_since = at, look_at = at
  where incident.id = any (incident_ids);

  perform uptuple.write_incident_events(array(
    select (
      'service.failed', incident.service_id, incident.region, incident.id, at, null, incident.code, incident.reason
    )::uptuple.transition
    from uptuple.incident
    where incident.id = any (incident_ids)
    order by incident.service_id, incident.region
  ));
end
$function$;

comment on function uptuple.announce_incidents(bigint[]) is 'Tells of open incidents that were withheld until now.';

revoke execute on function uptuple.announce_incidents(bigint[]) from public;
