-- Every fire of every task: what came of it, who ran it, how long it took, and the trace id that its log lines carry.
create or replace view uptuple.task_runs as
select
  run.id as run_id,
  run.task,
  run.fire_at,
  run.state,
  run.cause,
  run.requested_by,
  run.reason,
  run.skipped_until,
  run.function,
  run.worker,
  run.claimed_at,
  run.started_at,
  run.ended_at,
  run.ended_at - run.started_at as took,
  run.row_count,
  run.value,
  run.error_code,
  run.error,
  run.trace_id
from uptuple.task_run run;

comment on view uptuple.task_runs is
  'Every fire of every scheduled task: run, failed, lost or skipped, with its trace id. select * from '
  'uptuple.task_runs order by run_id desc limit 20;';

grant select on uptuple.task_runs to uptuple_worker, uptuple_operator, uptuple_viewer;
