-- Notices that were given up, for people to requeue or discard.
create view uptuple.dead_deliveries as
select
  delivery.id as delivery_id,
  event.event_id,
  channel.name as channel,
  service.name as service,
  delivery.incident_id,
  event.kind,
  event.occurred_at,
  delivery.finished_at as dead_since,
  delivery.attempts,
  coalesce(delivery.last_cause, 'HTTP ' || delivery.last_status, 'no answer') as cause,
  delivery.last_status,
  delivery.last_answer,
  delivery.last_attempt_at,
  (
    select count(*)
    from uptuple.delivery held
    where held.service_id = delivery.service_id and held.channel_id = delivery.channel_id and held.state = 'HELD'
  ) as holds_back
from uptuple.delivery
join uptuple.event on event.id = delivery.event_number
join uptuple.channel on channel.id = delivery.channel_id
left join uptuple.service on service.id = delivery.service_id
where delivery.state = 'DEAD'
order by delivery.finished_at, delivery.id;

comment on view uptuple.dead_deliveries is
  'Notices whose attempts are spent or that their receiver refused for good. Send one again with requeue_alert, or give it up with discard_alert; '
  'many at once with requeue_alerts and discard_alerts.';

grant select on uptuple.dead_deliveries to uptuple_worker, uptuple_operator, uptuple_viewer;
