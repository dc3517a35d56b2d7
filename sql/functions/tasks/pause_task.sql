-- Keep a task from firing until resume_task: true, or false if it was paused already. A run that has begun goes on, and
-- run_task_now still works. The pause outlives every reload. Fires that come due in it are neither run nor recorded.
-- Writes task_mark.
create or replace function uptuple.pause_task(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  perform uptuple.known_task(name);
  update uptuple.task_mark mark
     set paused_at = clock_timestamp(), paused_by = session_user, reckoned_for = 'OFF', next_fire_at = null
   where mark.task = name and mark.paused_at is null;
  return found;
end
$function$;

comment on function uptuple.pause_task(text) is
  'Keep a task from firing until resume_task. False if it was paused already.';

revoke execute on function uptuple.pause_task(text) from public;
grant execute on function uptuple.pause_task(text) to uptuple_operator;
