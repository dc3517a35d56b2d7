-- One shape for everything that is told, whatever it is about: an incident, a certificate, a runtime, the monitor itself.

create type uptuple.notice as (
  kind text,
  severity text,
  service_id bigint,
  region text,
  incident_id bigint,
  dedupe_key text,
  occurred_at timestamptz,
  applied_order bigint,
  data jsonb
);

comment on type uptuple.notice is
  'What write_events freezes as an event. service_id, region, incident_id and applied_order may be null; data is what the kind has to say '
  'beyond service, group, tags, region, kind, severity and time.';

alter table uptuple.event
  add column severity text not null default 'critical' check (severity in ('info', 'warning', 'critical'));

comment on column uptuple.event.severity is
  'critical: something is down. warning: something needs a look before it is. info: good news, and tests.';
