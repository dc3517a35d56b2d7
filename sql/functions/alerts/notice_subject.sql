-- Which trouble an event belongs to, so that what opens it, repeats it and ends it have something in common. Reads nothing.
--
-- down, degraded, flapping, unknown, certificate, worker, deliveries, digest, test; any other kind is a trouble of its own.
create or replace function uptuple.notice_subject(event uptuple.event)
returns text
language sql
immutable
return case event.kind
  when 'service.failed' then 'down'
  when 'service.recovered' then 'down'
  when 'service.reminder' then 'down'
  when 'service.escalated' then 'down'
  when 'incident.acknowledged' then 'down'
  when 'service.degraded' then 'degraded'
  when 'service.restored' then 'degraded'
  when 'service.flapping' then 'flapping'
  when 'service.stable' then 'flapping'
  when 'service.unknown' then 'unknown'
  when 'service.known' then 'unknown'
  when 'certificate.expiring' then 'certificate'
  when 'worker.quarantined' then 'worker'
  when 'worker.trusted' then 'worker'
  when 'deliveries.dead' then 'deliveries'
  when 'channel.test' then 'test'
  else event.kind
end;

comment on function uptuple.notice_subject(uptuple.event) is
  'Which trouble an event belongs to: down, degraded, flapping, unknown, certificate, worker, deliveries, test, or its kind.';

revoke execute on function uptuple.notice_subject(uptuple.event) from public;
