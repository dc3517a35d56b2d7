-- Freeze what happened as events, and put one delivery for each channel that is to know into the outbox. The one door for every kind.
--
-- In the transaction of what caused it: if that rolls back, nothing is told. A dedupe_key that exists already is an error. The caller
-- holds the locks of the services' states, so event ids follow commit order. Race, a channel is added or enabled at the same moment:
-- add_channel holds the channel table against this function, so one of the two sees the other and the notice goes out once. Channels that
-- are off get theirs listed as SUPERSEDED; a RECOVERED is sent only where its FAILED went. What concerns no service stands in no lane
-- and is READY at once. What is written while its service is in maintenance waits for the end of it. Writes event and delivery, and wakes the runtimes. Called by write_notices and by whoever has something else to tell.
create or replace function uptuple.write_events(notices uptuple.notice[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
begin
  lock table uptuple.channel in row share mode;

  with happened as (
    insert into uptuple.event (event_id, kind, severity, service_id, incident_id, dedupe_key, occurred_at, applied_order, data)
    select fresh.event_id, notice.kind, notice.severity, notice.service_id, notice.incident_id, notice.dedupe_key, notice.occurred_at,
      notice.applied_order,
      jsonb_strip_nulls(jsonb_build_object(
        'event_id', fresh.event_id,
        'incident_id', notice.incident_id,
        'service', service.name,
        'group', service.group_name,
        'tags', case when service.tags <> '{}' then to_jsonb(service.tags) end,
        'region', notice.region,
        'kind', notice.kind,
        'severity', notice.severity,
        'occurred_at', uptuple.iso_time(notice.occurred_at)
      ) || coalesce(notice.data, '{}'))
    from unnest(notices) with ordinality notice
      (kind, severity, service_id, region, incident_id, dedupe_key, occurred_at, applied_order, data, position)
    left join uptuple.service on service.id = notice.service_id
    cross join lateral (select gen_random_uuid() as event_id where notice.position is not null) fresh
    order by notice.position
    returning event.id, event.kind, event.service_id, event.incident_id
  ),
  held as materialized (
    select happened.*, uptuple.hold_until(happened.service_id) as until from happened
  )
  insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, due_at, held_until, finished_at, note)
  select held.id, channel.id, held.service_id, held.incident_id,
    case when not channel.enabled then 'SUPERSEDED' when held.service_id is null then 'READY' else 'WAITING' end,
    coalesce(held.until, clock_timestamp()),
    case when channel.enabled then held.until end,
    case when not channel.enabled then clock_timestamp() end,
    case when not channel.enabled then 'the channel was disabled' end
  from held
  cross join uptuple.channel
  where channel.removed_at is null
    and (
      not channel.enabled
      or held.kind <> 'service.recovered'
      or exists (
        select
        from uptuple.event failed
        join uptuple.delivery told on told.event_number = failed.id and told.channel_id = channel.id
        where failed.incident_id = held.incident_id and failed.kind = 'service.failed' and told.state <> 'SUPERSEDED'
      )
    )
  order by held.id, channel.id;

  perform uptuple.advance_lanes(array(
    select distinct notice.service_id from unnest(notices) notice where notice.service_id is not null
  ));
  if exists (select from unnest(notices) notice where notice.service_id is null) then
    notify uptuple_alerts;
  end if;
end
$function$;

comment on function uptuple.write_events(uptuple.notice[]) is
  'Writes events and their deliveries in the transaction of what caused them. A dedupe_key that exists already is an error.';

revoke execute on function uptuple.write_events(uptuple.notice[]) from public;
