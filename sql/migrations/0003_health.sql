-- Results, the state they add up to, and incidents.

create table uptuple.result (
  scheduled_slot bigint not null,
  service_id bigint not null,
  job_id bigint,
  applied_order bigint,
  recorded_at timestamptz not null,
  revision integer not null,
  latency_ms real check (latency_ms >= 0),
  dns_ms real check (dns_ms >= 0),
  connect_ms real check (connect_ms >= 0),
  tls_ms real check (tls_ms >= 0),
  first_byte_ms real check (first_byte_ms >= 0),
  http_status integer,
  region text not null,
  purpose text not null check (purpose in ('GRID', 'FIRST', 'REQUEST', 'CONFIRM', 'MANUAL')),
  status text not null check (status in ('UP', 'DEGRADED', 'DOWN', 'INCONCLUSIVE')),
  code text,
  reason text,
  worker text,
  detail jsonb
) partition by range (scheduled_slot);

create unique index result_window_key on uptuple.result (service_id, region, scheduled_slot) where purpose <> 'MANUAL';
create index result_manual on uptuple.result (service_id, region, scheduled_slot) where purpose = 'MANUAL';

comment on table uptuple.result is 'One verdict per job, and the records made by hand. Never changed after it is written.';
comment on column uptuple.result.applied_order is
  'Its place in the order in which results moved the state of (service, region); null: stored, but moved nothing.';
comment on column uptuple.result.purpose is 'As in job; MANUAL: by record_health, with no window of its own.';
comment on column uptuple.result.latency_ms is 'Start to last needed byte, by the runtime''s monotonic clock. The phases add up to less.';
comment on column uptuple.result.code is 'Which kind of failure, from a fixed list; null when up.';
comment on column uptuple.result.detail is 'Facts kept for people: address, redirects, certificate, warnings.';

create table uptuple.service_state (
  service_id bigint not null references uptuple.service,
  region text not null,
  status text not null default 'UNKNOWN' check (status in ('UP', 'DEGRADED', 'DOWN', 'UNKNOWN')),
  since timestamptz not null default clock_timestamp(),
  failure_streak integer not null default 0 check (failure_streak >= 0),
  success_streak integer not null default 0 check (success_streak >= 0),
  streak_started_at timestamptz,
  last_slot bigint,
  last_at timestamptz,
  applied_count bigint not null default 0,
  incident_id bigint,
  verdict_at timestamptz,
  checked_at timestamptz,
  checked_status text,
  checked_code text,
  checked_reason text,
  checked_latency_ms real,
  primary key (service_id, region),
  check ((status = 'DOWN') = (incident_id is not null))
) with (fillfactor = 50);

comment on table uptuple.service_state is
  'What the results of (service, region) add up to. No index on what changes, so that each update stays in its page.';
comment on column uptuple.service_state.status is 'DOWN from the failure that reached the threshold to the recovery; UNKNOWN before the first verdict.';
comment on column uptuple.service_state.failure_streak is 'DOWNs in a row, capped at the failure threshold.';
comment on column uptuple.service_state.success_streak is 'UPs in a row, capped at the recovery threshold.';
comment on column uptuple.service_state.streak_started_at is 'When the first check of the present failure streak failed.';
comment on column uptuple.service_state.last_slot is 'Newest window applied. Older windows that finish later are stored and not applied.';
comment on column uptuple.service_state.last_at is 'Time of the last applied result; more than three intervals later a streak starts anew.';
comment on column uptuple.service_state.verdict_at is 'When the last UP, DEGRADED or DOWN was accepted; too long ago is shown as UNKNOWN.';
comment on column uptuple.service_state.checked_at is 'When the newest result came in, whether or not it moved the state.';

create table uptuple.incident (
  id bigint generated always as identity primary key,
  service_id bigint not null references uptuple.service,
  region text not null,
  started_at timestamptz not null,
  opened_at timestamptz not null,
  opened_order bigint not null,
  closed_at timestamptz,
  closed_by text check (closed_by in ('recovered', 'withdrawn')),
  code text,
  reason text,
  check ((closed_at is null) = (closed_by is null))
);

create unique index incident_open_key on uptuple.incident (service_id, region) where closed_at is null;
create index incident_by_service on uptuple.incident (service_id, opened_at);

comment on table uptuple.incident is 'A failure from the check that reached the threshold to the recovery.';
comment on column uptuple.incident.started_at is 'When the first check of the streak failed; how long it was down counts from here.';
comment on column uptuple.incident.opened_order is 'The applied_order of the result that opened it.';
comment on column uptuple.incident.closed_by is 'recovered: by a result. withdrawn: the service was disabled or removed.';

-- What one result carries into the state, whoever brought it.
create type uptuple.health_record as (
  service_id bigint,
  region text,
  scheduled_slot bigint,
  job_id bigint,
  revision integer,
  interval_seconds integer,
  purpose text,
  status text,
  code text,
  reason text,
  latency_ms real,
  dns_ms real,
  connect_ms real,
  tls_ms real,
  first_byte_ms real,
  http_status integer,
  worker text,
  detail jsonb
);

-- An incident that a result has just opened or closed.
create type uptuple.transition as (
  kind text,
  service_id bigint,
  region text,
  incident_id bigint,
  occurred_at timestamptz,
  applied_order bigint,
  code text,
  reason text
);

create type uptuple.verdict as (status text, code text, reason text);
