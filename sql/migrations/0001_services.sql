-- What is watched: services, their immutable revisions, and the record of when each was active with which grid.

create table uptuple.region (
  name text primary key check (name ~ '^[A-Za-z0-9_.-]{1,63}$')
);

insert into uptuple.region values ('default');

comment on table uptuple.region is 'The regions that services name. Small, so that each can be asked for the head of its queue.';

create table uptuple.service (
  id bigint generated always as identity primary key,
  name text not null check (name <> '' and length(name) <= 200),
  group_name text check (length(group_name) between 1 and 200),
  tags text[] not null default '{}',
  regions text[] not null default '{default}' check (cardinality(regions) = 1),
  revision integer not null default 1,
  enabled boolean not null default true,
  interval_seconds integer not null check (interval_seconds between 1 and 86400),
  phase_seconds integer not null check (phase_seconds >= 0),
  phase_ms integer not null check (phase_ms between 0 and 999),
  first_slot bigint not null,
  failure_threshold integer not null check (failure_threshold between 1 and 100),
  recovery_threshold integer not null check (recovery_threshold between 1 and 100),
  confirm_seconds integer check (confirm_seconds between 1 and 86400),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  check (phase_seconds < interval_seconds),
  check (removed_at is null or not enabled)
);

create unique index service_name_key on uptuple.service (name) where removed_at is null;
create index service_schedule on uptuple.service (interval_seconds, phase_seconds) where enabled;

comment on table uptuple.service is
  'What is watched. Change it through add_service, update_service, enable_service, disable_service and remove_service.';
comment on column uptuple.service.regions is 'Where it is probed from. One region until quorum rules exist.';
comment on column uptuple.service.revision is 'The revision that new jobs refer to.';
comment on column uptuple.service.phase_seconds is
  'Windows start this many seconds past each multiple of the interval: a stable hash of the id.';
comment on column uptuple.service.phase_ms is
  'Jobs are due this many milliseconds after their window starts, so that services do not fire together.';
comment on column uptuple.service.first_slot is 'No window of the present grid starts before this epoch second.';
comment on column uptuple.service.confirm_seconds is
  'Seconds to the next check while the failure streak is below its threshold; null: the smaller of the interval and 30.';
comment on column uptuple.service.removed_at is 'Soft removal: the name is free again, history stays.';

create table uptuple.service_revision (
  service_id bigint not null references uptuple.service,
  revision integer not null,
  kind text not null check (kind in ('http')),
  target text not null,
  config jsonb not null,
  timeout_ms integer not null check (timeout_ms between 100 and 20000),
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null default session_user,
  primary key (service_id, revision)
);

comment on table uptuple.service_revision is
  'Immutable configuration. A job carries the number of the revision it was enqueued with, and is judged by it.';
comment on column uptuple.service_revision.target is
  'What is probed, in its canonical form. May hold ${UPTUPLE_SECRET_NAME}, which only the runtime expands.';

create table uptuple.service_active (
  service_id bigint not null references uptuple.service,
  region text not null,
  interval_seconds integer not null,
  phase_seconds integer not null,
  during tstzrange not null
);

create index service_active_by_service on uptuple.service_active (service_id, region);

comment on table uptuple.service_active is
  'When each service was active with which grid: what coverage counts expected windows from.';
