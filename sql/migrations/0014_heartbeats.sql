-- Services that report by themselves: when each is expected next, what it said last, and the secret that it calls with.

create table uptuple.heartbeat (
  service_id bigint constraint heartbeat_pkey primary key references uptuple.service,
  token uuid not null default gen_random_uuid() constraint heartbeat_token_key unique,
  revision integer,
  interval_seconds integer,
  expected_at timestamptz,
  run_started_at timestamptz,
  run_due_at timestamptz,
  due_at timestamptz,
  verdict_at timestamptz not null default clock_timestamp(),
  verdict_slot bigint,
  called_at timestamptz,
  called_with text check (called_with in ('success', 'start', 'fail')),
  run_ms real check (run_ms >= 0),
  calls bigint not null default 0,
  check ((expected_at is null) = (due_at is null)),
  check (due_at is null or revision is not null and interval_seconds is not null),
  check (run_due_at is null or run_started_at is not null)
) with (fillfactor = 50);

create index heartbeat_due on uptuple.heartbeat (due_at) where due_at is not null;

comment on table uptuple.heartbeat is
  'What is expected of each service that reports by itself. Written by start_heartbeat, stop_heartbeat, take_beat and check_heartbeats only.';
comment on column uptuple.heartbeat.token is 'The secret in the URL that the service calls. Shown by heartbeat_url to operators, and by nothing else.';
comment on column uptuple.heartbeat.revision is 'The revision, and the interval, that expected_at was reckoned with.';
comment on column uptuple.heartbeat.expected_at is 'When it is expected to have reported at the latest, without grace. Null while the service is disabled.';
comment on column uptuple.heartbeat.run_started_at is 'When the run that is under way last said that it starts; what its duration counts from.';
comment on column uptuple.heartbeat.run_due_at is 'When the run that is under way is to have ended: grace after its first start.';
comment on column uptuple.heartbeat.due_at is 'When it is overdue: run_due_at while a run is under way, else grace after expected_at.';
comment on column uptuple.heartbeat.verdict_at is 'When the present window began: with the last verdict that was stored, or with the service.';
comment on column uptuple.heartbeat.verdict_slot is 'The scheduled_slot of that verdict: one a second at most, always ascending.';
comment on column uptuple.heartbeat.run_ms is 'How long the last run took that told its start and its end.';

create table uptuple.heartbeat_cursor (
  only_row boolean constraint heartbeat_cursor_pkey primary key default true check (only_row),
  checked_at timestamptz not null,
  deaf tstzrange not null default 'empty'
);

insert into uptuple.heartbeat_cursor (checked_at) values (clock_timestamp());

comment on table uptuple.heartbeat_cursor is 'One row. Whoever holds its lock looks for what is overdue, everyone else skips.';
comment on column uptuple.heartbeat_cursor.checked_at is 'When somebody last looked.';
comment on column uptuple.heartbeat_cursor.deaf is
  'The last time in which nobody looked, so that probably nobody listened either: calls may have been lost in it.';

-- A heartbeat may be expected once a month; what is probed keeps its limit of a day.
alter table uptuple.service
  drop constraint service_interval_seconds_check,
  add constraint service_interval_seconds_check check (interval_seconds between 1 and case when probed then 86400 else 31622400 end);

alter table uptuple.service_active add column probed boolean not null default true;

comment on column uptuple.service_active.probed is
  'False for a heartbeat: it has no grid, and each of its verdicts is a window of its own.';

alter table uptuple.result
  drop constraint result_purpose_check,
  add constraint result_purpose_check check (purpose in ('GRID', 'FIRST', 'REQUEST', 'CONFIRM', 'MANUAL', 'HEARTBEAT'));

comment on column uptuple.result.purpose is
  'As in job; MANUAL: by record_health, with no window of its own; HEARTBEAT: of a service that reports by itself, or was to.';
