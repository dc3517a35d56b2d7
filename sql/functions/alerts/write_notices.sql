-- Tell of incidents that opened or closed, but for those that nobody is to be told of.
--
-- A failure is withheld if why_withheld has a reason; tell_due announces it when the reason ends. An incident that was never announced
-- closes in silence. The caller holds the locks of the services' states and has written the incidents. Called by apply_results and
-- withdraw_incidents. Writes incident, flapping and, through write_events, event and delivery. Incidents are looked up one by one, so that
-- no plan reads all of them, and the updated ones by a list of one, as in advance_lanes.
create or replace function uptuple.write_notices(transitions uptuple.transition[])
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
declare
  announced uptuple.transition[];
begin
  perform uptuple.damp_flips(array(select change.incident_id from unnest(transitions) change where change.kind = 'service.failed'));
  update uptuple.incident
  set withheld_because = decided.why
  from (
    select change.incident_id, uptuple.why_withheld(change.incident_id) as why
    from unnest(transitions) change
    where change.kind = 'service.failed'
  ) decided
  where incident.id = any (array[decided.incident_id]) and decided.why is not null;

  announced := array(
    select (
      change.kind, change.service_id, change.region, change.incident_id, change.occurred_at, change.applied_order, change.code, change.reason
    )::uptuple.transition
    from unnest(transitions) with ordinality change (kind, service_id, region, incident_id, occurred_at, applied_order, code, reason, position)
    cross join lateral (
      select from uptuple.incident where incident.id = change.incident_id and incident.withheld_because is null offset 0
    ) told
    order by change.position
  );
  if announced <> '{}' then
    perform uptuple.write_incident_events(announced);
  end if;
end
$function$;

comment on function uptuple.write_notices(uptuple.transition[]) is
  'Tells of incidents that opened or closed, in the transaction of the result, but for those that are withheld.';

revoke execute on function uptuple.write_notices(uptuple.transition[]) from public;
