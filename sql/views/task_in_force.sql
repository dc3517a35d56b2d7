-- The one row that is in force for each name of a task, and the schedule to go by: of the database before the file
-- before the one that ships, and of the sources in use. `schedule` is OFF while the task is disabled or paused; another
-- schedule than before means that the next fire must be reckoned anew. For claim_task, finish_task and the views;
-- nobody else may read it.
create or replace view uptuple.task_in_force as
select distinct on (task.name)
  task.name,
  task.source,
  task.group_name,
  task.kind,
  task.cron,
  task.interval_ms,
  task.initial_delay_ms,
  task.time_zone,
  task.function,
  task.arguments,
  task.enabled,
  task.description,
  task.lock_name,
  task.lock_at_most_ms,
  task.lock_at_least_ms,
  task.statement_timeout_ms,
  task.miss_policy,
  task.miss_within_ms,
  task.miss_limit,
  mark.first_known_at,
  mark.paused_at,
  mark.reckoned_for,
  mark.next_fire_at,
  mark.last_ended_at,
  case
    when task.enabled and mark.paused_at is null then
      concat_ws(' | ', task.kind, coalesce(task.cron, task.interval_ms::text), task.time_zone, task.initial_delay_ms)
    else 'OFF'
  end as schedule
from uptuple.task
join uptuple.task_mark mark on mark.task = task.name
cross join uptuple.task_setting setting
where task.removed_at is null
  and (setting.source in ('both', task.source) or task.source = 'builtin')
order by task.name, case task.source when 'database' then 1 when 'file' then 2 else 3 end;

comment on view uptuple.task_in_force is 'The row in force for each task, and where the task stands.';
