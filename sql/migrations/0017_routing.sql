-- Who is told of what: routes and escalations, reminders, acknowledgement, dependencies, and what is withheld.

create table uptuple.route (
  id bigint generated always as identity primary key,
  channel_id bigint not null references uptuple.channel,
  service_ids bigint[],
  group_names text[],
  tags text[],
  min_severity text not null default 'info' check (min_severity in ('info', 'warning', 'critical')),
  kinds text[],
  after interval check (after >= interval '0'),
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null default session_user
);

create index route_by_channel on uptuple.route (channel_id);

comment on table uptuple.route is
  'What goes to a channel: the union of its routes, or everything if it has none. Change it with route, escalate and unroute.';
comment on column uptuple.route.service_ids is
  'A route selects what is named here, is in one of the groups or has one of the tags; every service if all three are null.';
comment on column uptuple.route.kinds is 'Null: every kind.';
comment on column uptuple.route.after is
  'Null: told when it happens. Else an escalation: told of a failure that nobody has acknowledged for so long.';

create type uptuple.recipient as (
  dedupe_key text,
  channel_id bigint
);

comment on type uptuple.recipient is
  'A channel that write_events sends an event to, whatever the routes are. An event with recipients goes to them alone.';

alter table uptuple.channel
  add column remind_every interval check (remind_every >= interval '1 minute');

comment on column uptuple.channel.remind_every is 'How often a failure is told again that nobody has acknowledged; null: never.';

alter table uptuple.service
  add column depends_on bigint references uptuple.service,
  add check (depends_on <> id);

create index service_depends_on on uptuple.service (depends_on) where depends_on is not null;

comment on column uptuple.service.depends_on is 'While that one is down, failures of this one are not announced.';

alter table uptuple.incident
  add column withheld_because text check (withheld_because in ('dependency', 'flapping')),
  add column waiting_since timestamptz not null default clock_timestamp(),
  add column look_at timestamptz default clock_timestamp(),
  add column acknowledged_at timestamptz,
  add column acknowledged_by text,
  add column acknowledged_note text,
  add check ((acknowledged_at is null) = (acknowledged_by is null));

update uptuple.incident set waiting_since = opened_at;

create index incident_look on uptuple.incident (look_at) where closed_at is null and look_at is not null;

comment on column uptuple.incident.withheld_because is 'Why nobody is told of it, so that it has neither FAILED nor RECOVERED. Null: it is announced.';
comment on column uptuple.incident.waiting_since is
  'Since when somebody is waited for: it was announced, or an acknowledgement was taken back. Reminders and escalations count from here.';
comment on column uptuple.incident.look_at is 'When tell_due looks at it next: a reminder, an escalation or an announcement may be due. Null: nothing can be.';
comment on column uptuple.incident.acknowledged_at is 'Somebody looks after it: no reminders and no escalation.';

alter table uptuple.delivery
  add column follows bigint;

comment on column uptuple.delivery.follows is
  'Of a notice without an incident: the event whose end it tells. A dead one of that event holds it back.';

alter table uptuple.service
  add column damping boolean not null default true;

comment on column uptuple.service.damping is 'Whether one notice stands for all while it keeps going up and down. Change it with set_damping.';

alter table uptuple.service_state
  add column recent bigint not null default 0,
  add column degraded_order bigint,
  add column flapping_id bigint,
  add column unknown_event bigint;

comment on column uptuple.service_state.recent is
  'The last 20 verdicts that were applied, two bits each, the newest lowest: 1 UP, 2 DEGRADED, 3 DOWN, 0 none. Begins anew after a gap, as streaks do.';
comment on column uptuple.service_state.degraded_order is 'The applied_order of the result by which it was told as DEGRADED; null: it is not.';
comment on column uptuple.service_state.flapping_id is 'What is open in flapping.';
comment on column uptuple.service_state.unknown_event is 'The event that told that it has no verdicts any more.';

-- Ids are those of incidents, which it stands beside.
create table uptuple.flapping (
  id bigint primary key default nextval(pg_get_serial_sequence('uptuple.incident', 'id')),
  service_id bigint not null references uptuple.service,
  region text not null,
  opened_at timestamptz not null,
  closed_at timestamptz,
  reason text not null,
  look_at timestamptz default clock_timestamp()
);

create unique index flapping_open_key on uptuple.flapping (service_id, region) where closed_at is null;
create index flapping_look on uptuple.flapping (look_at) where closed_at is null;
create index flapping_by_service on uptuple.flapping (service_id, opened_at);

comment on table uptuple.flapping is
  'From when a service kept going up and down until it was stable. Incidents of that time are withheld.';
comment on column uptuple.flapping.look_at is 'When tell_due looks next whether it is stable.';

create table uptuple.silence_watch (
  only_row boolean primary key default true check (only_row),
  looked_at timestamptz not null,
  watching_since timestamptz not null
);

insert into uptuple.silence_watch (looked_at, watching_since) values (clock_timestamp(), clock_timestamp());

comment on table uptuple.silence_watch is
  'One row: when somebody looked last for services without verdicts. Whoever holds its lock looks, everyone else skips.';
comment on column uptuple.silence_watch.watching_since is
  'Since when somebody has looked without a break: that no runtime was there is not told as the silence of every service.';

alter table uptuple.channel
  add column group_seconds integer check (group_seconds between 0 and 300);

comment on column uptuple.channel.group_seconds is
  'Failures that come within so many seconds of two others are told in one digest; 0: each by itself. Null: as its kind has it, see grouping_seconds.';

alter table uptuple.delivery
  add column collect_until timestamptz,
  add column grouped_in bigint;

create index delivery_collect on uptuple.delivery (channel_id, collect_until) where collect_until is not null;
create index delivery_grouped on uptuple.delivery (grouped_in) where grouped_in is not null;

comment on column uptuple.delivery.collect_until is
  'Of a FAILED whose channel groups: until when others count as of the same moment. Due later, it waits for a digest.';
comment on column uptuple.delivery.grouped_in is
  'The delivery of the digest that tells it. It waits for that one, is delivered or discarded with it, and held back while that one is dead.';
