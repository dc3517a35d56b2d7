-- Remind of failures that nobody has acknowledged, and escalate them; and say when to look at each again.
--
-- A reminder counts from what its channel was told last, one at a time, so that an outage of the monitor is followed by one and not by all
-- that it missed; none is written while the channel has not taken what it was told before, nor in maintenance. A channel is escalated to
-- once in an incident. The caller holds the locks of the services' states, of the incidents and, in share mode, the channel table. Called by tell_due.
-- Writes event, delivery and incident. Returns how many notices it wrote.
create or replace function uptuple.tell_unacknowledged(incident_ids bigint[])
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  retry constant interval := interval '1 minute';
  -- A service may get another group or tags meanwhile, and an escalation with them.
  unasked constant interval := interval '10 minutes';
  notices uptuple.notice[];
  recipients uptuple.recipient[];
begin
  with waiting as materialized (
    select incident.*, service.group_name, service.tags
    from uptuple.incident
    join uptuple.service on service.id = incident.service_id
    where incident.id = any (incident_ids) and incident.acknowledged_at is null
      and not uptuple.in_maintenance(incident.service_id, at)
  ),
  reminder as (
    select told.*, greatest(waiting_since, least(told.last_at, at)) + told.remind_every as due_at
    from (
      select waiting.id, waiting.waiting_since, channel.id as channel_id, channel.remind_every,
        count(*) filter (where event.kind = 'service.reminder') as count,
        max(event.occurred_at) filter (where delivery.state <> 'SUPERSEDED') as last_at,
        bool_or(delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')) as is_behind
      from waiting
      join uptuple.event on event.incident_id = waiting.id and event.kind in ('service.failed', 'service.escalated', 'service.reminder')
      join uptuple.delivery on delivery.event_number = event.id
      join uptuple.channel on channel.id = delivery.channel_id and channel.enabled and channel.remind_every is not null
      group by waiting.id, waiting.waiting_since, channel.id
    ) told
    where told.last_at is not null
  ),
  escalation as (
    select waiting.id, channel.id as channel_id, waiting.waiting_since + min(route.after) as due_at
    from waiting
    join uptuple.route on route.after is not null and uptuple.route_fits(route, waiting.service_id, waiting.group_name, waiting.tags)
    join uptuple.channel on channel.id = route.channel_id and channel.enabled
    where not exists (
      select
      from uptuple.event
      join uptuple.delivery on delivery.event_number = event.id and delivery.channel_id = channel.id
      where event.incident_id = waiting.id and event.kind = 'service.escalated'
    )
    group by waiting.id, waiting.waiting_since, channel.id
  ),
  planned as materialized (
    select reminder.id, 'service.reminder' as kind, reminder.channel_id, reminder.due_at <= at and not reminder.is_behind as is_told,
      reminder.count + 1 as ordinal,
      case
        when reminder.due_at > at then reminder.due_at
        when reminder.is_behind then at + least(reminder.remind_every, retry)
        else at + reminder.remind_every
      end as next_at
    from reminder
    union all
    select escalation.id, 'service.escalated', escalation.channel_id, escalation.due_at <= at, 1,
      case when escalation.due_at > at then escalation.due_at else at end
    from escalation
  ),
  looked_at as (
    update uptuple.incident
    set look_at = case
          when uptuple.in_maintenance(incident.service_id, at) then at + retry
          when incident.acknowledged_at is null
            then least(at + unasked, (select min(planned.next_at) from planned where planned.id = incident.id))
        end
    where incident.id = any (incident_ids)
  )
  select
    array_agg(
      (
        planned.kind, 'critical', waiting.service_id, waiting.region, waiting.id,
        format('incident:%s:%s:%s:%s', waiting.id, planned.kind, planned.channel_id, planned.ordinal), at, null,
        jsonb_build_object(
          'code', waiting.code,
          'reason', waiting.reason,
          'failing_since', uptuple.iso_time(waiting.started_at),
          'down_seconds', round(extract(epoch from at - waiting.started_at), 3),
          'reminder', case when planned.kind = 'service.reminder' then planned.ordinal end
        )
      )::uptuple.notice
      order by waiting.id, planned.kind, planned.channel_id
    ),
    array_agg(
      (format('incident:%s:%s:%s:%s', waiting.id, planned.kind, planned.channel_id, planned.ordinal), planned.channel_id)::uptuple.recipient
    )
  into notices, recipients
  from planned
  join waiting on waiting.id = planned.id
  where planned.is_told;

  if notices is null then
    return 0;
  end if;
  perform uptuple.write_events(notices, recipients);
  return cardinality(notices);
end
$function$;

comment on function uptuple.tell_unacknowledged(bigint[]) is
  'Writes the reminders and escalations of announced incidents that are due, and when to look at each again. Returns how many it wrote.';

revoke execute on function uptuple.tell_unacknowledged(bigint[]) from public;
