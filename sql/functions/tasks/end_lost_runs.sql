-- End the runs whose lock has run out: LOST, or SUCCEEDED where the function's work was committed and only its outcome
-- was never reported.
--
-- A run's statement is cut before its lock is free, so nothing of it goes on; were it so after all, its row would be
-- locked, and is skipped here. Called by claim_task_at. Writes task_run and task_mark.
create or replace function uptuple.end_lost_runs()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  run uptuple.task_run;
begin
  for run in
    select open_run.*
      from uptuple.task_run open_run
     where open_run.state = 'RUNNING' and open_run.lease_until <= at
     order by open_run.id
       for update skip locked
  loop
    update uptuple.task_run
       set state = case when run.executed_at is null then 'LOST' else 'SUCCEEDED' end,
           ended_at = coalesce(run.executed_at, run.lease_until),
           error = case
             when run.executed_at is null then format('%s did not report an outcome before the lock ran out', run.worker)
           end
     where id = run.id;
    perform uptuple.note_task_end(
      run.task, coalesce(run.executed_at, run.lease_until), case when run.executed_at is null then 'LOST' else 'SUCCEEDED' end
    );
  end loop;
end
$function$;

comment on function uptuple.end_lost_runs() is
  'Ends the runs whose lock has run out before their outcome was reported. Part of claim_task.';

revoke execute on function uptuple.end_lost_runs() from public;
