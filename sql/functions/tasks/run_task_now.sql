-- Have a task run at once, beside its schedule, also while it is paused or disabled. Returns the run's id; one that is
-- already waiting is returned again.
--
-- A runtime takes it when the task's lock is free. Race, two callers: the mark's row lock orders them, and the second
-- finds the first's request. Writes task_run and wakes the runtimes.
create or replace function uptuple.run_task_now(name text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  waiting bigint;
begin
  perform uptuple.known_task(name);
  select run.id into waiting from uptuple.task_run run where run.task = name and run.state = 'REQUESTED';
  if waiting is null then
    insert into uptuple.task_run as run (task, fire_at, cause, state, requested_by, trace_id)
    values (name, clock_timestamp(), 'REQUEST', 'REQUESTED', session_user, replace(gen_random_uuid()::text, '-', ''))
    returning run.id into waiting;
  end if;
  notify uptuple_tasks;
  return waiting;
end
$function$;

comment on function uptuple.run_task_now(text) is
  'Have a task run at once, beside its schedule, also while it is paused or disabled. Returns the id of the run: '
  'select * from uptuple.task_runs where run_id = ...';

revoke execute on function uptuple.run_task_now(text) from public;
grant execute on function uptuple.run_task_now(text) to uptuple_operator;
