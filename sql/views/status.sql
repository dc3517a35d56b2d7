-- Every service, its state, since when, and its last check.
create view uptuple.status as
select
  service.name as service,
  service.group_name,
  service.tags,
  state.region,
  case
    when not service.enabled then 'PAUSED'
    -- A verdict that lies ahead is from before a clock was set back: nobody has looked since.
    when not verdict.recent then 'UNKNOWN'
    else state.status
  end as status,
  state.since,
  state.checked_at,
  state.checked_status,
  state.checked_latency_ms as latency_ms,
  state.checked_code as code,
  state.checked_reason as reason,
  verdict.recent,
  state.failure_streak,
  service.failure_threshold,
  state.incident_id,
  make_interval(secs => service.interval_seconds) as every,
  uptuple.shown_url(uptuple.readable_url(revision.target)) as url,
  service.revision,
  maintenance.until as maintenance_until,
  maintenance.title as maintenance_title
from uptuple.service
join uptuple.service_state state on state.service_id = service.id
join uptuple.service_revision revision on revision.service_id = service.id and revision.revision = service.revision
cross join lateral (
  select greatest(make_interval(secs => 3 * service.interval_seconds), interval '2 minutes') as longest
) silence
left join uptuple.heartbeat beat on beat.service_id = service.id
cross join lateral (
  -- A heartbeat has a verdict as long as somebody looks whether it is overdue.
  select case
    when service.probed then (state.verdict_at between clock_timestamp() - silence.longest and clock_timestamp() + silence.longest) is true
    else state.verdict_at is not null and (beat.due_at > clock_timestamp() - interval '2 minutes') is true
  end as recent
) verdict
left join uptuple.current_maintenance() maintenance on maintenance.service_id = service.id
where service.removed_at is null
order by service.group_name nulls last, service.name, state.region;

comment on view uptuple.status is
  'Every service: UP, DEGRADED, DOWN, UNKNOWN (no verdict for three intervals or two minutes; of a heartbeat, before its first one) or PAUSED, '
  'since when, and its last check.';
comment on column uptuple.status.status is
  'DOWN from the failure that reached the threshold to the recovery; a single failure shows in checked_status and failure_streak.';
comment on column uptuple.status.recent is
  'False if there was no verdict for three intervals or two minutes; a status that is UNKNOWN all the same has not been decided yet.';
comment on column uptuple.status.checked_status is 'The verdict of the last check, whether or not it moved the status.';

comment on column uptuple.status.maintenance_until is 'When the maintenance ends that it is in; null: it is in none. Until then its notices wait.';

grant select on uptuple.status to uptuple_worker, uptuple_operator, uptuple_viewer;
