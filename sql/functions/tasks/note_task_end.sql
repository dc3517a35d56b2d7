-- Note on a task's mark that a run has ended: a fixed delay counts from here, wherever the run was; and count its
-- outcome. Called by finish_task and end_lost_runs, which hold the run's row: run, then mark, then lock is the order
-- everywhere. Writes task_mark and counter.
create or replace function uptuple.note_task_end(task text, ended_at timestamptz, outcome text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  update uptuple.task_mark mark
     set last_ended_at = greatest(mark.last_ended_at, ended_at),
         next_fire_at = case
           when in_force.kind = 'FIXED_DELAY' and in_force.schedule = mark.reckoned_for and in_force.schedule <> 'OFF' then
             greatest(mark.last_ended_at, ended_at) + make_interval(secs => in_force.interval_ms / 1000.0)
           else mark.next_fire_at
         end
    from uptuple.task_in_force in_force
   where mark.task = task and in_force.name = task;
  perform uptuple.count('task_runs', jsonb_build_object('task', task, 'outcome', outcome));
end
$function$;

comment on function uptuple.note_task_end(text, timestamptz, text) is
  'Notes that a run of a task has ended and how, which is where a fixed delay starts.';

revoke execute on function uptuple.note_task_end(text, timestamptz, text) from public;
