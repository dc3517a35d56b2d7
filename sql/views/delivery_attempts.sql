-- Evidence: every attempt to deliver a notice, and what the receiver said.
create view uptuple.delivery_attempts as
select
  delivery_attempt.finished_at as at,
  channel.name as channel,
  channel.kind as channel_kind,
  service.name as service,
  event.kind,
  delivery_attempt.attempt,
  delivery_attempt.outcome,
  delivery_attempt.status,
  delivery_attempt.latency_ms,
  delivery_attempt.answer,
  delivery.state as notice_is,
  delivery_attempt.worker,
  delivery_attempt.delivery_id,
  event.event_id,
  event.incident_id
from uptuple.delivery_attempt
join uptuple.delivery on delivery.id = delivery_attempt.delivery_id
join uptuple.event on event.id = delivery.event_number
join uptuple.channel on channel.id = delivery.channel_id
left join uptuple.service on service.id = delivery.service_id
order by delivery_attempt.id;

comment on view uptuple.delivery_attempts is
  'Every attempt to deliver a notice: when, to whom, which attempt, what it came to (DELIVERED, RETRY, DEAD, PAUSED, SUSPENDED), status, '
  'latency in ms, and an excerpt of the answer. event_id is what the receiver saw as Idempotency-Key.';

grant select on uptuple.delivery_attempts to uptuple_worker, uptuple_operator, uptuple_viewer;
