-- Every service that reports by itself: when it is expected, when it is overdue, what it said last. Never its token.
create view uptuple.heartbeats as
select
  service.name as service,
  service.group_name,
  case when beat.due_at is null then 'PAUSED' else state.status end as status,
  beat.run_started_at is not null as running,
  beat.run_started_at,
  beat.expected_at,
  beat.due_at,
  beat.called_at,
  beat.called_with,
  beat.run_ms,
  beat.calls,
  make_interval(secs => (revision.config ->> 'grace_seconds')::integer) as grace,
  case when not revision.config ? 'cron' then make_interval(secs => service.interval_seconds) end as every,
  revision.config ->> 'cron' as cron,
  revision.config ->> 'zone' as zone
from uptuple.heartbeat beat
join uptuple.service on service.id = beat.service_id
join uptuple.service_revision revision on revision.service_id = service.id and revision.revision = service.revision
join uptuple.service_state state on state.service_id = service.id and state.region = service.regions[1]
where service.removed_at is null
order by service.name;

comment on view uptuple.heartbeats is
  'Every service that reports by itself: its status, whether a run is under way, when it is expected and when overdue, and what it said last.';
comment on column uptuple.heartbeats.due_at is 'When it becomes DOWN unless it reports: grace after expected_at, or after the start of a run.';
comment on column uptuple.heartbeats.calls is 'All calls, also those that changed nothing and so are no result.';

grant select on uptuple.heartbeats to uptuple_worker, uptuple_operator, uptuple_viewer;
