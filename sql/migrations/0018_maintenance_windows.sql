-- Maintenance that is announced ahead: when it is, what it covers, and which notices wait for its end.
--
-- What is covered is asked when it matters, by group and tags as they were at that moment: nothing is written for each service, so a window
-- over everything costs as much as one over one service, and a service that joins a group is covered from then on.

create table uptuple.maintenance_window (
  id bigint generated always as identity primary key,
  uuid uuid not null unique default gen_random_uuid(),
  sequence integer not null default 0,
  title text not null check (title <> '' and length(title) <= 200),
  description text check (length(description) between 1 and 10000),
  recurrence text not null check (recurrence in ('ONCE', 'WEEKLY', 'CRON')),
  starts_at timestamptz not null,
  ends_at timestamptz,
  weekdays text[] check (weekdays <> '{}' and weekdays <@ '{MON,TUE,WED,THU,FRI,SAT,SUN}'),
  from_time time,
  until_time time,
  cron text,
  duration interval check (duration > interval '0'),
  time_zone text,
  made_until timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null default session_user,
  changed_at timestamptz not null default clock_timestamp(),
  changed_by text not null default session_user,
  cancelled_at timestamptz,
  check (ends_at >= starts_at),
  check (recurrence <> 'ONCE' or ends_at is not null),
  check ((recurrence = 'WEEKLY') = (weekdays is not null and from_time is not null and until_time is not null)),
  check ((recurrence = 'CRON') = (cron is not null and duration is not null)),
  check ((recurrence = 'ONCE') = (time_zone is null))
);

comment on table uptuple.maintenance_window is
  'Maintenance that is announced. Change it through plan_maintenance, change_maintenance, end_maintenance and cancel_maintenance, which also '
  'use its lock: whoever lets a notice wait holds it in share against them.';
comment on column uptuple.maintenance_window.uuid is 'What others may know it by. It never changes.';
comment on column uptuple.maintenance_window.sequence is 'Grows with each change, so that a calendar knows which version is newer.';
comment on column uptuple.maintenance_window.starts_at is 'ONCE: when it starts. Else: no occurrence starts before.';
comment on column uptuple.maintenance_window.ends_at is 'ONCE: when it ends. Else: no occurrence starts at this time or later; null: it goes on.';
comment on column uptuple.maintenance_window.from_time is 'WEEKLY: by the clock of the zone. The first of two on the day that clocks go back.';
comment on column uptuple.maintenance_window.until_time is 'WEEKLY: by the clock of the zone, on the next day if not after from_time. The last of two.';
comment on column uptuple.maintenance_window.duration is 'CRON: elapsed time from each start.';
comment on column uptuple.maintenance_window.made_until is 'Occurrences that start before this time have been made.';

create table uptuple.maintenance_occurrence (
  id bigint generated always as identity primary key,
  window_id bigint not null references uptuple.maintenance_window,
  during tstzrange not null check (not isempty(during) and not lower_inf(during) and not upper_inf(during)),
  cancelled_at timestamptz
);

create index maintenance_occurrence_during on uptuple.maintenance_occurrence using gist (during) where cancelled_at is null;
create unique index maintenance_occurrence_key on uptuple.maintenance_occurrence (window_id, lower(during)) where cancelled_at is null;

comment on table uptuple.maintenance_occurrence is
  'When each window is, made some weeks ahead by extend_maintenance. One that was ended early ends there. Kept for ever: reports of the past '
  'leave this time out.';

create table uptuple.maintenance_scope (
  window_id bigint not null references uptuple.maintenance_window,
  everything boolean not null default false,
  service_ids bigint[] not null default '{}',
  groups text[] not null default '{}',
  tags text[] not null default '{}',
  during tstzrange not null default tstzrange(null, null)
);

create index maintenance_scope_by_window on uptuple.maintenance_scope (window_id);

comment on table uptuple.maintenance_scope is 'What a window covers, and when it covered it: a change closes a row and opens the next.';

create table uptuple.service_membership (
  service_id bigint not null references uptuple.service,
  group_name text,
  tags text[] not null,
  during tstzrange not null default tstzrange(null, null)
);

create index service_membership_by_service on uptuple.service_membership (service_id);

comment on table uptuple.service_membership is
  'The group and the tags of each service, and when it had them, so that a report of the past does not change with them.';

insert into uptuple.service_membership (service_id, group_name, tags)
select service.id, service.group_name, service.tags from uptuple.service;

alter table uptuple.delivery
  add column held_until timestamptz;

create index delivery_held on uptuple.delivery (held_until) where held_until is not null and finished_at is null;

comment on column uptuple.delivery.held_until is
  'It was written while its service was in maintenance, and is not sent before that ends. In the past: when it was let go.';
