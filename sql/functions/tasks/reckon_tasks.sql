-- Reckon the next fire of each task whose schedule is not the one that its mark was reckoned for: a new one, one that
-- was edited, enabled, disabled, paused or resumed, one whose row in force is another source's now.
--
-- A task that is reckoned for the first time starts from when it was first known, so that what was due since is missed
-- and not forgotten. Any other starts from now: a change or a pause is not an outage. Marks that another caller has in
-- hand are left to it. Called by claim_task_at with the time to go by. Writes task_mark.
create or replace function uptuple.reckon_tasks(now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  task record;
  first_time boolean;
  anchor timestamptz;
  next_fire timestamptz;
begin
  for task in
    select * from uptuple.task_in_force in_force where in_force.schedule is distinct from in_force.reckoned_for
  loop
    perform from uptuple.task_mark mark
      where mark.task = task.name and mark.reckoned_for is not distinct from task.reckoned_for
      for update skip locked;
    continue when not found;

    first_time := task.reckoned_for is null;
    anchor := task.first_known_at + make_interval(secs => task.initial_delay_ms / 1000.0);
    next_fire := case
      when task.schedule = 'OFF' then null
      when task.kind = 'FIXED_DELAY' then
        greatest(
          coalesce(task.last_ended_at + make_interval(secs => task.interval_ms / 1000.0), anchor),
          case when not first_time then now end
        )
      when task.kind = 'FIXED_RATE' and first_time then anchor
      else
        uptuple.task_fire_after(
          task.cron, task.time_zone, task.interval_ms, anchor, case when first_time then anchor else greatest(anchor, now) end
        )
    end;

    update uptuple.task_mark mark
       set reckoned_for = task.schedule, next_fire_at = next_fire
     where mark.task = task.name;
  end loop;
end
$function$;

comment on function uptuple.reckon_tasks(timestamptz) is
  'Reckons the next fire of each task whose schedule has changed. Part of claim_task.';

revoke execute on function uptuple.reckon_tasks(timestamptz) from public;
