-- Record how a run ended and give its lock back: true, or false for a run that is not held with this token any more.
-- The third of a run's three calls.
--
-- Without an error it SUCCEEDED, which only a run can whose function's work was committed; with one it FAILED. Where
-- the work was committed and its acknowledgement was lost, the error is the messenger's and the run SUCCEEDED all the
-- same. A repeated call answers true again and changes nothing. Rows are locked in the order run, mark, lock. Writes
-- task_run, task_mark, counter and lock.
create or replace function uptuple.finish_task(
  run_id bigint,
  token uuid,
  error text default null,
  error_code text default null
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  run uptuple.task_run;
  at timestamptz;
begin
  select held.* into run from uptuple.task_run held where held.id = run_id and held.token = token for update;
  if not found or run.state not in ('RUNNING', 'SUCCEEDED', 'FAILED') then
    return false;
  elsif run.state <> 'RUNNING' then
    return true;
  elsif run.executed_at is null and error is null then
    raise exception 'run % was not executed, so it cannot have succeeded', run_id
      using errcode = 'UT002', hint = 'Call execute_task first, or give the error that kept it from running.';
  end if;

  at := clock_timestamp();
  update uptuple.task_run held
     set state = case when run.executed_at is null then 'FAILED' else 'SUCCEEDED' end,
         started_at = coalesce(run.started_at, run.claimed_at),
         ended_at = at,
         error = case when run.executed_at is null then left(error, 8000) end,
         error_code = case when run.executed_at is null then left(error_code, 100) end
   where held.id = run_id;
  perform uptuple.note_task_end(run.task, at, case when run.executed_at is null then 'FAILED' else 'SUCCEEDED' end);
  perform uptuple.release_lock(run.lock_name, token);
  return true;
end
$function$;

comment on function uptuple.finish_task(bigint, uuid, text, text) is
  'Record how a run ended: SUCCEEDED without an error, else FAILED. True, also when repeated; false if the run is '
  'not held with this token any more.';

revoke execute on function uptuple.finish_task(bigint, uuid, text, text) from public;
grant execute on function uptuple.finish_task(bigint, uuid, text, text) to uptuple_worker, uptuple_operator;
