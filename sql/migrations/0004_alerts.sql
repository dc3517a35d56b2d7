-- The transactional outbox: events are frozen when they happen, deliveries join one event and one channel.

create table uptuple.event (
  id bigint generated always as identity primary key,
  event_id uuid not null unique default gen_random_uuid(),
  kind text not null,
  service_id bigint references uptuple.service,
  incident_id bigint references uptuple.incident,
  dedupe_key text not null unique,
  occurred_at timestamptz not null,
  applied_order bigint,
  data jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);

create index event_by_incident on uptuple.event (incident_id, kind);

comment on table uptuple.event is
  'What happened and must be told. Written in the transaction of the result that caused it, whether or not a channel exists; never changed.';
comment on column uptuple.event.id is 'The order of notices. Drawn under the lock of the service''s state, so it follows commit order.';
comment on column uptuple.event.event_id is 'What a receiver sees as Idempotency-Key and webhook-id, the same in every attempt.';
comment on column uptuple.event.dedupe_key is 'incident, kind and ordinal: the same notice cannot exist twice, reminders can.';
comment on column uptuple.event.data is 'Everything a notice says, frozen.';

create table uptuple.channel (
  id bigint generated always as identity primary key,
  name text not null check (name <> '' and length(name) <= 200),
  kind text not null default 'webhook' check (kind in ('webhook')),
  url text not null,
  headers jsonb not null default '{}' check (jsonb_typeof(headers) = 'object'),
  signing_secrets text[] not null default '{}',
  enabled boolean not null default true,
  ordering text not null default 'incident' check (ordering in ('incident', 'strict')),
  max_attempts integer not null default 5 check (max_attempts between 1 and 20),
  max_in_flight integer not null default 4 check (max_in_flight between 1 and 4),
  connect_timeout_ms integer not null default 2000,
  timeout_ms integer not null default 10000 check (timeout_ms between 100 and 20000),
  paused_until timestamptz,
  suspended_at timestamptz,
  suspended_reason text,
  probe_at timestamptz,
  transient_failures integer not null default 0,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  check ((suspended_at is null) = (suspended_reason is null)),
  check ((suspended_at is null) = (probe_at is null)),
  check (removed_at is null or not enabled)
);

create unique index channel_name_key on uptuple.channel (name) where removed_at is null;

comment on table uptuple.channel is 'Where notices go. Change it through add_channel, update_channel and their siblings.';
comment on column uptuple.channel.signing_secrets is
  'Keys of the Standard Webhooks signature as ${UPTUPLE_SECRET_NAME}; two of them overlap while one is rotated.';
comment on column uptuple.channel.ordering is
  'incident: a dead notice holds back only its own incident. strict: it holds back everything later of its service.';
comment on column uptuple.channel.paused_until is 'The receiver asked for a pause (429); nothing is sent before.';
comment on column uptuple.channel.suspended_at is 'Notices wait without spending attempts; one probe goes out every five minutes.';
comment on column uptuple.channel.probe_at is 'When the next notice may probe a suspended channel.';
comment on column uptuple.channel.transient_failures is 'In a row, over all notices; at five the channel is suspended.';

create table uptuple.delivery (
  id bigint generated always as identity primary key,
  event_number bigint not null references uptuple.event,
  channel_id bigint not null references uptuple.channel,
  service_id bigint,
  incident_id bigint,
  state text not null check (state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DELIVERED', 'DEAD', 'DISCARDED', 'SUPERSEDED')),
  due_at timestamptz not null default clock_timestamp(),
  attempts smallint not null default 0,
  claim_token uuid,
  accepted_token uuid,
  worker text,
  last_status integer,
  last_answer text,
  last_attempt_at timestamptz,
  finished_at timestamptz,
  requeued_at timestamptz,
  note text,
  created_at timestamptz not null default clock_timestamp(),
  constraint delivery_event_key unique (event_number, channel_id),
  check ((state = 'SENDING') = (claim_token is not null)),
  check ((state in ('DELIVERED', 'DISCARDED', 'SUPERSEDED', 'DEAD')) = (finished_at is not null))
);

create index delivery_claim on uptuple.delivery (channel_id, due_at, id) where state in ('READY', 'SENDING');
-- By token, not by state, so that whoever looks for what is being sent never walks past what is ready in delivery_claim.
create index delivery_sending on uptuple.delivery (channel_id, due_at) where claim_token is not null;
create index delivery_dead on uptuple.delivery (finished_at) where state = 'DEAD';
create index delivery_settled on uptuple.delivery (finished_at) where state in ('DELIVERED', 'DISCARDED', 'SUPERSEDED');
create index delivery_lane on uptuple.delivery (service_id, channel_id, event_number)
  where state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD');

comment on table uptuple.delivery is
  'One event for one channel. A lane is what one service sends to one channel: only the oldest live one of a lane may be claimed.';
comment on column uptuple.delivery.state is
  'READY: may be claimed. WAITING: behind an older one of its lane. HELD: behind a dead one of its incident. SENDING: leased. '
  'DELIVERED, DEAD (attempts spent or refused for good), DISCARDED (by a person), SUPERSEDED (the channel was not there or was off).';
comment on column uptuple.delivery.due_at is 'READY: when it may be claimed. SENDING: when the lease ends.';
comment on column uptuple.delivery.last_answer is 'What the receiver said last, an excerpt, or why it could not be reached.';
comment on column uptuple.delivery.requeued_at is 'When it was made to go again, out of its turn.';
comment on column uptuple.delivery.note is 'Why it was discarded or superseded.';

create table uptuple.delivery_attempt (
  id bigint generated always as identity primary key,
  delivery_id bigint not null references uptuple.delivery,
  attempt smallint not null,
  finished_at timestamptz not null default clock_timestamp(),
  worker text,
  outcome text not null,
  status integer,
  latency_ms real,
  answer text
);

create index delivery_attempt_by_delivery on uptuple.delivery_attempt (delivery_id);

comment on table uptuple.delivery_attempt is 'Evidence: one row for each answer, or lack of one, that a runtime reported.';
comment on column uptuple.delivery_attempt.outcome is 'DELIVERED, RETRY, DEAD, SUSPENDED or PAUSED: what the answer meant.';
