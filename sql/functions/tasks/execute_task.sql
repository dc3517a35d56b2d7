-- Run the function of a claimed task, as the role uptuple_task, in the transaction of this call. The second of a run's
-- three calls.
--
-- Only with the token, while the lock is held, and once: the run's row stays locked until the end, and is marked
-- executed by the transaction that holds the function's work, so that the mark and the work are there together or not
-- at all. Call it on a connection of its own with the statement_timeout that claim_task gave: afterwards the session's
-- temporary tables and cursors are gone and its settings are reset. An error is the function's, or UT002 for a run that
-- is not one's own. Writes task_run, and whatever the function writes.
create or replace function uptuple.execute_task(run_id bigint, token uuid, out row_count bigint, out value jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  run uptuple.task_run;
  begun constant timestamptz := clock_timestamp();
begin
  select held.* into run
    from uptuple.task_run held
   where held.id = run_id
     and held.state = 'RUNNING'
     and held.token = token
     and held.executed_at is null
     and held.lease_until > clock_timestamp()
     for update;
  if not found then
    raise exception 'run % is not held with this token', coalesce(run_id::text, 'null')
      using errcode = 'UT002',
            hint = 'It has been executed, has ended, or its lock has run out. Take the next one with claim_task.';
  elsif not (
    select proc.prosecdef
      from pg_catalog.pg_proc proc
     where proc.oid = 'uptuple.run_as_task(text, jsonb)'::regprocedure
  ) then
    raise exception 'run_as_task does not run as its owner any more, so nothing is run'
      using errcode = 'UT002',
            hint = 'Somebody has altered it: alter function uptuple.run_as_task(text, jsonb) security definer, and find '
                   'out who.';
  end if;

  select * into row_count, value
    from uptuple.run_as_task(uptuple.task_call(run.function, run.arguments), run.arguments);
  -- A search_path that was set in there outlives this function's own, and the names below would be looked up in it.
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if length(value::text) > 8000 then
    value := to_jsonb(left(value::text, 8000) || ' ...');
  end if;

  update uptuple.task_run held
     set started_at = begun, executed_at = clock_timestamp(), row_count = row_count, value = value
   where held.id = run_id;
end
$function$;

comment on function uptuple.execute_task(bigint, uuid) is
  'Run a claimed task''s function as uptuple_task. Returns how many rows it gave, or its value (at most 8,000 '
  'characters are kept). Drops the session''s temporary tables and cursors. Then call finish_task.';

revoke execute on function uptuple.execute_task(bigint, uuid) from public;
grant execute on function uptuple.execute_task(bigint, uuid) to uptuple_worker, uptuple_operator;
