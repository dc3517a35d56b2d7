-- Each task that is in force: what it does and when, its next fire, how its last run ended, and since when it is
-- running. Arguments are left out: they may hold what was taken from the environment. `next_fire_at` is null until a
-- runtime has looked at a change.
create or replace view uptuple.tasks as
select
  in_force.name,
  in_force.group_name,
  in_force.source,
  in_force.kind,
  coalesce(in_force.cron, (in_force.interval_ms / 1000.0)::double precision || ' s') as schedule,
  in_force.time_zone,
  in_force.function,
  in_force.enabled,
  in_force.paused_at,
  case when in_force.schedule = in_force.reckoned_for then in_force.next_fire_at end as next_fire_at,
  last_run.state as last_outcome,
  last_run.ended_at as last_ended_at,
  last_run.ended_at - last_run.started_at as last_took,
  last_run.error as last_error,
  running.claimed_at as running_since,
  running.worker as running_on,
  in_force.description
from uptuple.task_in_force in_force
left join lateral (
  select run.state, run.started_at, run.ended_at, run.error
    from uptuple.task_run run
   where run.task = in_force.name and run.state in ('SUCCEEDED', 'FAILED', 'LOST')
   order by run.fire_at desc
   limit 1
) last_run on true
left join lateral (
  select run.claimed_at, run.worker
    from uptuple.task_run run
   where run.task = in_force.name and run.state = 'RUNNING'
   order by run.id desc
   limit 1
) running on true;

comment on view uptuple.tasks is
  'Each scheduled task: what it does and when, its next fire, how its last run ended, and since when and where it '
  'is running.';

grant select on uptuple.tasks to uptuple_worker, uptuple_operator, uptuple_viewer;
