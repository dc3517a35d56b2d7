-- Scheduled tasks: what is to run and when, where each stands, and every run.

create type uptuple.cron_schedule as (
  seconds bit(60),
  minutes bit(60),
  hours bit(24),
  month_days bit(31),
  days_before_last bit(31),
  nearest_weekdays bit(31),
  last_weekday boolean,
  months bit(12),
  week_days bit(7),
  nth_week_days bit(35),
  last_week_days bit(7),
  either_day boolean,
  fixed_time boolean
);

comment on type uptuple.cron_schedule is
  'A parsed cron expression: a bit for each value that it allows, from the field''s lowest.';
comment on column uptuple.cron_schedule.days_before_last is 'L is the first bit, L-3 the fourth.';
comment on column uptuple.cron_schedule.nearest_weekdays is '1W is the first bit, 15W the fifteenth.';
comment on column uptuple.cron_schedule.last_weekday is 'LW.';
comment on column uptuple.cron_schedule.week_days is 'Sunday is the first bit.';
comment on column uptuple.cron_schedule.nth_week_days is 'Five weeks from Sunday: MON#2 is the ninth bit.';
comment on column uptuple.cron_schedule.last_week_days is 'SUNL is the first bit.';
comment on column uptuple.cron_schedule.either_day is 'The date or the weekday has to fit, not both.';
comment on column uptuple.cron_schedule.fixed_time is
  'Neither minute nor hour starts with a star: once per local day, whatever the clocks do.';

create table uptuple.task (
  id bigint generated always as identity primary key,
  name text not null,
  source text not null default 'database' check (source in ('builtin', 'file', 'database')),
  group_name text,
  kind text not null check (kind in ('CRON', 'FIXED_RATE', 'FIXED_DELAY')),
  cron text,
  interval_ms bigint,
  initial_delay_ms bigint not null,
  time_zone text not null,
  function text not null,
  arguments jsonb not null,
  enabled boolean not null,
  description text,
  lock_name text not null,
  lock_at_most_ms bigint not null,
  lock_at_least_ms bigint not null,
  statement_timeout_ms bigint not null,
  miss_policy text not null check (miss_policy in ('skip', 'once', 'all')),
  miss_within_ms bigint not null,
  miss_limit integer not null,
  created_at timestamptz not null,
  created_by text not null,
  changed_at timestamptz,
  changed_by text,
  removed_at timestamptz,
  check ((kind = 'CRON') = (cron is not null)),
  check ((kind = 'CRON') = (interval_ms is null)),
  check (statement_timeout_ms <= lock_at_most_ms)
);

create unique index task_name_key on uptuple.task (name, source) where removed_at is null;

comment on table uptuple.task is
  'Scheduled tasks, one row for each source of a name; of one name, the row of the database wins over that of the '
  'file, and that over the one that ships. '
  'Insert and update rows as you like: each is validated when it is written, what is left out gets its default, and '
  'it takes effect within a second or two. '
  'Remove one with remove_task(name).';
comment on column uptuple.task.source is
  'database: written here. file: loaded from the tasks file, and overwritten by its next version. builtin: shipped '
  'with the program; change it as you like.';
comment on column uptuple.task.kind is
  'CRON: at the instants of cron in time_zone. FIXED_RATE: on the grid of interval_ms from when it was first known. '
  'FIXED_DELAY: interval_ms after the end of the last run.';
comment on column uptuple.task.initial_delay_ms is
  'From when the task was first known, not from each start. Default 0.';
comment on column uptuple.task.time_zone is 'A name in pg_timezone_names, in any case. Default UTC.';
comment on column uptuple.task.function is
  'With its schema: reports.nightly, or reports.nightly(integer, text) where there are several. Only what is '
  'granted to the role uptuple_task can run.';
comment on column uptuple.task.arguments is 'By name as an object, or by position as an array. Default {}.';
comment on column uptuple.task.lock_name is
  'Tasks that share a lock do not run at the same time. Default task: and the name.';
comment on column uptuple.task.lock_at_most_ms is
  'A run that has not ended by then is lost, and the next fire may come. Default 15 minutes.';
comment on column uptuple.task.lock_at_least_ms is 'No other run starts earlier than this after one. Default 0.';
comment on column uptuple.task.statement_timeout_ms is
  'The run is cut after this long. Default the smaller of 5 minutes and lock_at_most_ms.';
comment on column uptuple.task.miss_policy is
  'Of the fires that were due while nobody could run them: skip runs the last one if it is hardly late, once '
  '(default) the last one, all each of them.';
comment on column uptuple.task.miss_within_ms is
  'A fire that is later than this is skipped. Default 7 days, for miss policy skip 1 minute.';
comment on column uptuple.task.miss_limit is
  'With miss policy all, at most this many of the last missed fires are made up. Default 100.';
comment on column uptuple.task.removed_at is 'Soft removal: the name is free again, its runs stay.';

create table uptuple.task_mark (
  task text constraint task_mark_pkey primary key,
  first_known_at timestamptz not null,
  paused_at timestamptz,
  paused_by text,
  reckoned_for text,
  next_fire_at timestamptz,
  last_ended_at timestamptz
) with (fillfactor = 50);

comment on table uptuple.task_mark is
  'Where each task stands, by its name, whichever source''s row is in force. A fire is claimed by moving '
  'next_fire_at on, so it is claimed once.';
comment on column uptuple.task_mark.reckoned_for is
  'The schedule that next_fire_at belongs to; another one in force is reckoned anew.';
comment on column uptuple.task_mark.next_fire_at is
  'Null: it is switched off, never fires again, or waits for the end of its run.';
comment on column uptuple.task_mark.last_ended_at is
  'When its last run ended, on whatever instance: what a fixed delay counts from.';

create table uptuple.task_run (
  id bigint generated always as identity primary key,
  task text not null,
  fire_at timestamptz not null,
  cause text not null check (cause in ('SCHEDULE', 'REQUEST')),
  state text not null check (state in ('REQUESTED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'LOST', 'SKIPPED')),
  reason text,
  skipped_until timestamptz,
  requested_by text,
  function text,
  arguments jsonb,
  statement_timeout_ms bigint,
  lock_name text,
  worker text,
  token uuid,
  lease_until timestamptz,
  trace_id text not null,
  claimed_at timestamptz,
  started_at timestamptz,
  executed_at timestamptz,
  ended_at timestamptz,
  row_count bigint,
  value jsonb,
  error_code text,
  error text,
  constraint task_run_fire unique (task, fire_at),
  check (state <> 'RUNNING' or (token is not null and lease_until is not null)),
  check ((state in ('REQUESTED', 'RUNNING')) = (ended_at is null))
);

create index task_run_open on uptuple.task_run (state, id) where state in ('REQUESTED', 'RUNNING');
create index task_run_ended on uptuple.task_run (ended_at) where ended_at is not null;

comment on table uptuple.task_run is
  'Every fire of a task, once each: run, failed, lost or skipped. Function and arguments are those of the moment '
  'when it was claimed.';
comment on column uptuple.task_run.cause is 'SCHEDULE: its time had come. REQUEST: a person asked with run_task_now.';
comment on column uptuple.task_run.state is
  'REQUESTED -> RUNNING -> SUCCEEDED or FAILED; LOST: its runtime vanished and its lock ran out; SKIPPED: the miss '
  'policy left it out.';
comment on column uptuple.task_run.reason is 'Why it was skipped.';
comment on column uptuple.task_run.skipped_until is
  'Set where one SKIPPED row stands for all fires from fire_at until then.';
comment on column uptuple.task_run.token is 'Fencing token of the run, and the token of its lock.';
comment on column uptuple.task_run.executed_at is
  'When the function had returned, in the transaction of its own work: set if and only if that work was committed.';
comment on column uptuple.task_run.row_count is 'How many rows a set-returning function returned.';

create table uptuple.task_setting (
  one boolean default true primary key check (one),
  source text not null default 'both' check (source in ('file', 'database', 'both')),
  file_version bigint,
  file_sha256 text,
  file_applied_at timestamptz,
  file_applied_by text
);

insert into uptuple.task_setting default values;

comment on table uptuple.task_setting is
  'Where tasks come from, and which version of the tasks file was applied last. One row; change source with '
  'use_tasks_from.';

grant select, insert, update on uptuple.task to uptuple_operator;
