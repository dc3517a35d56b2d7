-- Freeze what happened as events, and put one delivery for each channel that is to know into the outbox.
--
-- In the transaction of the result: if that rolls back, nothing is told. The caller holds the locks of the services' states, so event ids
-- follow commit order. Race, a channel is added or enabled at the same moment: add_channel holds the channel table against this
-- function, so one of the two sees the other and the notice goes out once. Channels that are off get theirs listed as SUPERSEDED; a
-- RECOVERED is sent only where its FAILED went. Writes event and delivery, and wakes the runtimes.
create or replace function uptuple.write_notices(transitions uptuple.transition[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
begin
  lock table uptuple.channel in row share mode;

  with happened as (
    insert into uptuple.event (event_id, kind, service_id, incident_id, dedupe_key, occurred_at, applied_order, data)
    select fresh.event_id, change.kind, change.service_id, change.incident_id,
      format('incident:%s:%s:1', change.incident_id, change.kind), change.occurred_at, change.applied_order,
      jsonb_strip_nulls(jsonb_build_object(
        'event_id', fresh.event_id,
        'incident_id', change.incident_id,
        'service', service.name,
        'group', service.group_name,
        'tags', case when service.tags <> '{}' then to_jsonb(service.tags) end,
        'region', change.region,
        'kind', change.kind,
        'occurred_at', uptuple.iso_time(change.occurred_at),
        'code', change.code,
        'reason', change.reason,
        'failing_since', uptuple.iso_time(incident.started_at),
        'down_seconds', case when change.kind = 'service.recovered'
          then round(extract(epoch from change.occurred_at - incident.started_at), 3) end
      ))
    from unnest(transitions) with ordinality change
      (kind, service_id, region, incident_id, occurred_at, applied_order, code, reason, position)
    join uptuple.service on service.id = change.service_id
    join uptuple.incident on incident.id = change.incident_id
    cross join lateral (select gen_random_uuid() as event_id where change.position is not null) fresh
    order by change.position
    returning event.id, event.kind, event.service_id, event.incident_id
  )
  insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, finished_at, note)
  select happened.id, channel.id, happened.service_id, happened.incident_id,
    case when channel.enabled then 'WAITING' else 'SUPERSEDED' end,
    case when not channel.enabled then clock_timestamp() end,
    case when not channel.enabled then 'the channel was disabled' end
  from happened
  cross join uptuple.channel
  where channel.removed_at is null
    and (
      not channel.enabled
      or happened.kind <> 'service.recovered'
      or exists (
        select
        from uptuple.event failed
        join uptuple.delivery told on told.event_number = failed.id and told.channel_id = channel.id
        where failed.incident_id = happened.incident_id and failed.kind = 'service.failed' and told.state <> 'SUPERSEDED'
      )
    )
  order by happened.id, channel.id;

  perform uptuple.advance_lanes(array(select distinct change.service_id from unnest(transitions) change));
end
$function$;

comment on function uptuple.write_notices(uptuple.transition[]) is
  'Writes the events of incidents that opened or closed, and their deliveries, in the transaction of the result.';

revoke execute on function uptuple.write_notices(uptuple.transition[]) from public;
