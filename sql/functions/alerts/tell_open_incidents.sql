-- Give a channel the FAILED of each incident that is open and that its routes lead to it, unless it has had it.
--
-- What was addressed to it while it was off it gets whatever the routes are now, also an escalation; what was never written for it, only
-- by them. Many are told in a digest where people read. While its service is in maintenance a notice waits for the end. The caller holds the
-- channel table against write_events. Called by add_channel and enable_channel. Writes delivery and incident.
create or replace function uptuple.tell_open_incidents(channel_id bigint)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  told bigint[];
  collectable bigint[];
begin
  with open_failure as (
    insert into uptuple.delivery as known (event_number, channel_id, service_id, incident_id, state, due_at, held_until)
    select event.id, channel_id, event.service_id, event.incident_id, 'WAITING', coalesce(held.until, clock_timestamp()), held.until
    from uptuple.incident
    join uptuple.event on event.incident_id = incident.id and event.kind in ('service.failed', 'service.escalated')
    join uptuple.service on service.id = incident.service_id
    cross join lateral (select uptuple.hold_until(event.service_id) as until offset 0) held
    where incident.closed_at is null
      and (
        exists (select from uptuple.delivery meant where meant.event_number = event.id and meant.channel_id = channel_id)
        or event.kind = 'service.failed'
          and uptuple.is_routed(channel_id, event.kind, event.severity, service.id, service.group_name, service.tags)
      )
    order by event.id
    on conflict on constraint delivery_event_key do update
      set state = 'WAITING', due_at = excluded.due_at, held_until = excluded.held_until, finished_at = null, note = null,
          requeued_at = clock_timestamp()
      where known.state = 'SUPERSEDED'
    returning known.id, known.service_id, known.event_number
  )
  select array_agg(distinct open_failure.service_id),
    array_agg(open_failure.id) filter (where event.kind = 'service.failed')
  into told, collectable
  from open_failure
  join uptuple.event on event.id = open_failure.event_number;

  if told is not null then
    perform uptuple.collect_notices(collectable);
    perform uptuple.advance_lanes(told);
  end if;
  -- A reminder or an escalation may have fallen due while it was off.
  perform uptuple.look_again();
  return coalesce(cardinality(told), 0);
end
$function$;

comment on function uptuple.tell_open_incidents(bigint) is
  'Gives a channel the FAILED of each open incident that its routes lead to it and that it has not had.';

revoke execute on function uptuple.tell_open_incidents(bigint) from public;
