-- Make a run RUNNING under the lock that was just taken for it. What it is to do is copied, so that an edit of the task
-- does not touch it. Part of claim_task_at. Writes task_run.
create or replace function uptuple.start_run(
  run_id bigint,
  function text,
  arguments jsonb,
  statement_timeout_ms bigint,
  lock_name text,
  token uuid,
  worker text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  update uptuple.task_run run
     set state = 'RUNNING',
         function = function,
         arguments = arguments,
         statement_timeout_ms = statement_timeout_ms,
         lock_name = lock_name,
         token = token,
         worker = worker,
         lease_until = held.lock_until,
         claimed_at = clock_timestamp()
    from uptuple.lock held
   where run.id = run_id and held.name = lock_name;
end
$function$;

comment on function uptuple.start_run(bigint, text, jsonb, bigint, text, uuid, text) is
  'Makes a run RUNNING. Part of claim_task.';

revoke execute on function uptuple.start_run(bigint, text, jsonb, bigint, text, uuid, text) from public;
