-- Say that services are stable again, or why nobody looks any more. Incidents of theirs that are open are looked at next.
--
-- The caller holds the locks of the states. Called by tell_stable, set_damping and withdraw_incidents. Writes flapping, service_state,
-- incident, event and delivery.
create or replace function uptuple.close_flapping(flapping_ids bigint[], why text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  notices uptuple.notice[];
begin
  if flapping_ids = '{}' then
    return;
  end if;
  with closed as (
    update uptuple.flapping
    set closed_at = at
    where flapping.id = any (flapping_ids)
    returning flapping.*
  ),
  noted as (
    update uptuple.service_state state
    set flapping_id = null
    from closed
    where state.service_id = closed.service_id and state.region = closed.region
    returning state.service_id, state.region, state.status
  ),
  announced as (
    update uptuple.incident
    set look_at = at
    from closed
    where incident.service_id = closed.service_id and incident.region = closed.region and incident.closed_at is null
  )
  select array_agg(
    (
      'service.stable', 'info', closed.service_id, closed.region, null, format('flapping:%s:service.stable', closed.id), at, null,
      jsonb_build_object(
        'flapping_id', closed.id, 'status', noted.status, 'reason', why, 'flapping_since', uptuple.iso_time(closed.opened_at),
        'flapping_seconds', round(extract(epoch from at - closed.opened_at), 3)
      )
    )::uptuple.notice
    order by closed.service_id, closed.region
  )
  into notices
  from closed
  join noted on noted.service_id = closed.service_id and noted.region = closed.region;

  perform uptuple.write_events(notices);
end
$function$;

comment on function uptuple.close_flapping(bigint[], text) is 'Tells that services no longer go up and down, and why.';

revoke execute on function uptuple.close_flapping(bigint[], text) from public;
