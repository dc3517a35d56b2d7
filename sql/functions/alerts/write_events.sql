-- Freeze what happened as events, and put one delivery for each channel that is to know into the outbox. The one door for every kind.
--
-- In the transaction of what caused it: if that rolls back, nothing is told. A dedupe_key that exists already is an error. The caller
-- holds the locks of the services' states, so event ids follow commit order. Race, a channel or route is added or changed at the same
-- moment: whoever does so holds the channel table against this function, so one of the two sees the other and the notice goes out once.
-- Where an event goes is decided here and never again: to its recipients if it has any, else, if it follows another event, where that
-- one went, else where the routes of now lead. Channels that are off get theirs listed as SUPERSEDED. What concerns no service stands in
-- no lane and is READY at once. What is written while its service is in maintenance waits for the end of it. Writes event and
-- delivery, and wakes the runtimes. Called by whoever has something to tell.
--
-- Its plan is pinned, as are those of what it calls: made while there was nothing and kept, one read 200,000 deliveries for each of 200
-- services that failed at once, and did not end within 6 minutes. Now a notice takes some 80 pages for each of its deliveries.
create or replace function uptuple.write_events(notices uptuple.notice[], recipients uptuple.recipient[] default '{}')
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
  collectable bigint[];
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
    returning event.id, event.kind, event.severity, event.service_id, event.incident_id, event.dedupe_key
  ),
  held as materialized (
    select happened.*, uptuple.hold_until(happened.service_id) as until from happened
  ),
  placed as (
    select happened.*, service.group_name, service.tags, followed.ids as followed_ids,
      exists (select from unnest(recipients) named where named.dedupe_key = happened.dedupe_key) as is_addressed
    from held happened
    left join uptuple.service on service.id = happened.service_id
    left join uptuple.event_kinds on event_kinds.kind = happened.kind
    -- Without an incident, the event that it follows has the same key but for the kind.
    cross join lateral (
      select array_agg(earlier.id) as ids
      from (
        select event.id
        from uptuple.event
        where event.incident_id = happened.incident_id and event.kind = any (event_kinds.follows)
        union all
        select event.id
        from uptuple.event
        where happened.incident_id is null
          and event.dedupe_key = replace(happened.dedupe_key, happened.kind, event_kinds.follows[1])
      ) earlier
    ) followed
  ),
  written as (
    insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, follows, state, due_at, held_until, finished_at, note)
    select placed.id, channel.id, placed.service_id, placed.incident_id,
      case when placed.incident_id is null then placed.followed_ids[1] end,
      case when not channel.enabled then 'SUPERSEDED' when placed.service_id is null then 'READY' else 'WAITING' end,
      coalesce(placed.until, clock_timestamp()),
      case when channel.enabled then placed.until end,
      case when not channel.enabled then clock_timestamp() end,
      case when not channel.enabled then 'the channel was disabled' end
    from placed
    cross join uptuple.channel
    where channel.removed_at is null
      and case
        when placed.is_addressed then exists (
          select from unnest(recipients) named
          where named.dedupe_key = placed.dedupe_key and named.channel_id = channel.id
        )
        when placed.followed_ids is not null then exists (
          select from uptuple.delivery told
          where told.event_number = any (placed.followed_ids) and told.channel_id = channel.id
            and (told.state <> 'SUPERSEDED' or not channel.enabled)
        )
        else uptuple.is_routed(channel.id, placed.kind, placed.severity, placed.service_id, placed.group_name, placed.tags)
      end
    order by placed.id, channel.id
    returning delivery.id, delivery.channel_id, delivery.state
  )
  select array_agg(written.id) into collectable
  from written
  join uptuple.channel on channel.id = written.channel_id and uptuple.grouping_seconds(channel) > 0
  where written.state = 'WAITING';

  if collectable is not null then
    perform uptuple.collect_notices(collectable);
  end if;
  perform uptuple.advance_lanes(array(
    select distinct notice.service_id from unnest(notices) notice where notice.service_id is not null
  ));
  if exists (select from unnest(notices) notice where notice.service_id is null) then
    notify uptuple_alerts;
  end if;
end
$function$;

comment on function uptuple.write_events(uptuple.notice[], uptuple.recipient[]) is
  'Writes events and their deliveries in the transaction of what caused them. A dedupe_key that exists already is an error. recipients: '
  'channels that an event goes to instead of where the routes lead.';

revoke execute on function uptuple.write_events(uptuple.notice[], uptuple.recipient[]) from public;
