-- Every notice that is not delivered yet, and why it waits.
create view uptuple.deliveries_backlog as
select
  delivery.id as delivery_id,
  event.event_id,
  channel.name as channel,
  service.name as service,
  delivery.incident_id,
  event.kind,
  event.occurred_at,
  delivery.state,
  case
    when delivery.held_until > clock_timestamp() then 'its service is in maintenance until ' || uptuple.iso_time(delivery.held_until)
    when delivery.grouped_in is not null then 'it is told in the digest of delivery ' || delivery.grouped_in
    when delivery.state = 'HELD' then 'a dead notice of its incident is before it: requeue_alert or discard_alert that one'
    when delivery.state = 'WAITING' then 'an older notice of its service is before it'
    when delivery.state = 'SENDING' and delivery.due_at <= clock_timestamp() then 'its sender is gone; the next one takes over'
    when delivery.state = 'SENDING' then 'it is being sent'
    when not channel.enabled then 'the channel is disabled'
    when channel.suspended_at is not null then 'the channel is suspended: ' || channel.suspended_reason
    when channel.paused_until > clock_timestamp() then 'the receiver asked for a pause'
    when delivery.attempts > 0 then 'it is tried again'
    when delivery.due_at > delivery.collect_until then 'it waits a few seconds for others that fail or recover at the same time'
    else 'it is about to be sent'
  end as waits_because,
  delivery.attempts,
  channel.max_attempts,
  delivery.due_at,
  delivery.last_status,
  delivery.last_answer,
  delivery.last_attempt_at
from uptuple.delivery
join uptuple.event on event.id = delivery.event_number
join uptuple.channel on channel.id = delivery.channel_id
left join uptuple.service on service.id = delivery.service_id
where delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING')
order by delivery.event_number, channel.name;

comment on view uptuple.deliveries_backlog is 'Every notice that is not delivered yet, with the reason why it waits and the last answer of its receiver.';

grant select on uptuple.deliveries_backlog to uptuple_worker, uptuple_operator, uptuple_viewer;
