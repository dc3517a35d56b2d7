-- Check jobs, partitioned by day. Retention drops partitions and never deletes rows.

create sequence uptuple.job_id as bigint cache 20;

create table uptuple.job (
  id bigint not null default nextval('uptuple.job_id'),
  scheduled_slot bigint not null,
  service_id bigint not null,
  due_at timestamptz not null,
  finished_at timestamptz,
  revision integer not null,
  interval_seconds integer not null,
  attempts smallint not null default 0,
  region text not null,
  purpose text not null default 'GRID' check (purpose in ('GRID', 'FIRST', 'REQUEST', 'CONFIRM')),
  state text not null default 'READY' check (state in ('READY', 'RUNNING', 'DONE', 'FAILED', 'CANCELED', 'MISSED')),
  owner_token uuid,
  accepted_token uuid,
  worker text,
  error text,
  check ((state = 'RUNNING') = (owner_token is not null)),
  primary key (id, scheduled_slot),
  constraint job_window_key unique (service_id, region, scheduled_slot)
) partition by range (scheduled_slot);

-- The claim's order exactly. READY: when it may be claimed. RUNNING: when its lease ends.
create index job_claim on uptuple.job (region, due_at, id) where state in ('READY', 'RUNNING');

comment on table uptuple.job is
  'One check to make: a window of a service, or a request for one. Written by enqueue_jobs, check_now and the lease functions only.';
comment on column uptuple.job.scheduled_slot is 'Start of the window, in epoch seconds. Outside the grid: the second it was made for.';
comment on column uptuple.job.due_at is 'READY: when it may be claimed. RUNNING: when the lease ends.';
comment on column uptuple.job.purpose is
  'GRID: a window. FIRST: at once, for a new service. CONFIRM: between a first DOWN and its threshold. REQUEST: by check_now.';
comment on column uptuple.job.attempts is 'Claims so far: an attempt counts when it is claimed, not when it answers.';
comment on column uptuple.job.owner_token is 'Fencing token of the present lease; tied to RUNNING.';
comment on column uptuple.job.accepted_token is 'Token of the completion that was accepted, so that a repeated one is answered DUPLICATE.';

create table uptuple.enqueue_cursor (
  only_row boolean primary key default true check (only_row),
  enqueued_until bigint not null
);

insert into uptuple.enqueue_cursor (enqueued_until) values (extract(epoch from clock_timestamp()));

comment on table uptuple.enqueue_cursor is
  'One row. Whoever holds its lock enqueues, everyone else skips; who changes a grid waits for it.';
comment on column uptuple.enqueue_cursor.enqueued_until is 'Windows that start up to this epoch second have been enqueued.';
