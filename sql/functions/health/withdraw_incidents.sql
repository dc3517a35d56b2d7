-- Close the open incidents of a service as withdrawn; who got FAILED gets a RECOVERED that says why.
--
-- Locks the service's states first, as every writer of its notices does. Called by stop_service. Writes service_state, incident, event
-- and delivery.
create or replace function uptuple.withdraw_incidents(service_id bigint, why text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at timestamptz;
  transitions uptuple.transition[];
begin
  perform 1 from uptuple.service_state state
  where state.service_id = service_id
  order by state.service_id, state.region
  for no key update;
  at := clock_timestamp();

  with withdrawn as (
    update uptuple.incident
    set closed_at = at, closed_by = 'withdrawn'
    where incident.service_id = service_id and incident.closed_at is null
    returning incident.id, incident.region
  )
  select array_agg(
    ('service.recovered', service_id, withdrawn.region, withdrawn.id, at, null, 'withdrawn', why)::uptuple.transition
    order by withdrawn.region
  ) into transitions
  from withdrawn;

  if transitions is not null then
    perform uptuple.write_notices(transitions);
  end if;
  perform uptuple.close_flapping(
    array(select flapping.id from uptuple.flapping where flapping.service_id = service_id and flapping.closed_at is null), why
  );

  update uptuple.service_state state
  set status = 'UNKNOWN', since = at, incident_id = null, failure_streak = 0, success_streak = 0, recent = 0, degraded_order = null
  where state.service_id = service_id;
end
$function$;

comment on function uptuple.withdraw_incidents(bigint, text) is 'Closes the open incidents of a service as withdrawn, and tells who was told of them.';

revoke execute on function uptuple.withdraw_incidents(bigint, text) from public;
