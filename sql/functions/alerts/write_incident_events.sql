-- Freeze what an incident's FAILED and RECOVERED say, and hand them to write_events.
--
-- The caller holds the locks of the services' states and has written the incidents. Called by write_notices and announce_incidents.
create or replace function uptuple.write_incident_events(transitions uptuple.transition[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
begin
  perform uptuple.write_events(array(
    select (
      change.kind, case change.kind when 'service.recovered' then 'info' else 'critical' end, change.service_id, change.region,
      change.incident_id, format('incident:%s:%s:1', change.incident_id, change.kind), change.occurred_at, change.applied_order,
      jsonb_build_object(
        'code', change.code,
        'reason', change.reason,
        'failing_since', uptuple.iso_time(incident.started_at),
        'down_seconds', case when change.kind = 'service.recovered'
          then round(extract(epoch from change.occurred_at - incident.started_at), 3) end
      )
    )::uptuple.notice
    from unnest(transitions) with ordinality change
      (kind, service_id, region, incident_id, occurred_at, applied_order, code, reason, position)
    cross join lateral (select incident.started_at from uptuple.incident where incident.id = change.incident_id offset 0) incident
    order by change.position
  ));
end
$function$;

comment on function uptuple.write_incident_events(uptuple.transition[]) is 'Writes the FAILED and RECOVERED of incidents, and their deliveries.';

revoke execute on function uptuple.write_incident_events(uptuple.transition[]) from public;
