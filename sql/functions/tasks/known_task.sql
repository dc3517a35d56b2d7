-- Refuses the name of a task that is not there, and locks its mark, so that what follows is done by one caller at a
-- time. Called by run_task_now, pause_task and resume_task. Locks a row of task_mark.
create or replace function uptuple.known_task(name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  perform from uptuple.task_mark mark where mark.task = name for update;
  if not exists (select from uptuple.task_in_force in_force where in_force.name = name) then
    raise exception 'there is no task named %', coalesce(quote_literal(name), 'null')
      using errcode = 'UT001', hint = 'select name from uptuple.tasks order by name;';
  end if;
end
$function$;

comment on function uptuple.known_task(text) is 'Refuses the name of a task that is not there, and locks its mark.';

revoke execute on function uptuple.known_task(text) from public;
