-- claim_task with the time given, which decides what is due: for tests that move the clock over a change of summer
-- time. Leases go by the real clock.
--
-- A fire is claimed once over all instances: the mark's row is locked (others skip it), found still at the fire, and
-- moved on in the transaction that inserts the run, whose (task, fire) is unique, and takes the named lock. What a lock
-- keeps from running stays due. Rows are locked in the order run, mark, lock. Writes task_run, task_mark and lock.
-- Granted to nobody.
create or replace function uptuple.claim_task_at(worker text, now timestamptz)
returns table (
  run_id bigint,
  token uuid,
  task text,
  fire_at timestamptz,
  function text,
  statement_timeout_ms bigint,
  lease_ms bigint,
  trace_id text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  request uptuple.task_run;
  due record;
  fires record;
  granted uuid;
  new_run bigint;
begin
  perform uptuple.check_name('worker', worker);
  perform uptuple.end_lost_runs();
  perform uptuple.reckon_tasks(now);

  for request in
    select run.* from uptuple.task_run run where run.state = 'REQUESTED' order by run.id for update skip locked
  loop
    select in_force.* into due from uptuple.task_in_force in_force where in_force.name = request.task;
    if not found then
      update uptuple.task_run run
         set state = 'SKIPPED', reason = 'the task was removed', ended_at = clock_timestamp()
       where run.id = request.id;
      continue;
    end if;
    granted := uptuple.take_task_lock(due.lock_name, due.lock_at_most_ms, due.lock_at_least_ms, worker);
    continue when granted is null;
    new_run := request.id;
    exit;
  end loop;

  if new_run is null then
    for due in
      select in_force.*
        from uptuple.task_in_force in_force
       where in_force.next_fire_at <= now
         and in_force.schedule = in_force.reckoned_for
         and not exists (select from uptuple.locks held where held.name = in_force.lock_name)
       order by in_force.next_fire_at, in_force.name
    loop
      perform from uptuple.task_mark mark
        where mark.task = due.name and mark.next_fire_at = due.next_fire_at and mark.reckoned_for = due.schedule
        for update skip locked;
      continue when not found;

      select * into fires from uptuple.plan_fires(
        due.kind, due.cron, due.time_zone, due.interval_ms,
        due.first_known_at + make_interval(secs => due.initial_delay_ms / 1000.0),
        due.next_fire_at, now, make_interval(secs => due.miss_within_ms / 1000.0),
        case due.miss_policy when 'all' then due.miss_limit else 1 end
      );
      if fires.fire_at is not null then
        granted := uptuple.take_task_lock(due.lock_name, due.lock_at_most_ms, due.lock_at_least_ms, worker);
        continue when granted is null;
      end if;

      update uptuple.task_mark mark set next_fire_at = fires.next_at where mark.task = due.name;
      perform uptuple.skip_fires(due.name, fires.skipped, fires.skipped_from, fires.skipped_until, fires.fire_at);
      continue when fires.fire_at is null;

      insert into uptuple.task_run as run (task, fire_at, cause, state, trace_id)
      values (due.name, fires.fire_at, 'SCHEDULE', 'REQUESTED', replace(gen_random_uuid()::text, '-', ''))
      on conflict on constraint task_run_fire do nothing
      returning run.id into new_run;
      exit when found;
      perform uptuple.release_lock(due.lock_name, granted);
    end loop;
  end if;

  if new_run is not null then
    perform uptuple.start_run(
      new_run, due.function, due.arguments, due.statement_timeout_ms, due.lock_name, granted, worker
    );
    return query
      select run.id, run.token, run.task, run.fire_at, run.function, run.statement_timeout_ms,
             due.lock_at_most_ms, run.trace_id
        from uptuple.task_run run
       where run.id = new_run;
  end if;
end
$function$;

comment on function uptuple.claim_task_at(text, timestamptz) is 'claim_task at a given time. For tests.';

revoke execute on function uptuple.claim_task_at(text, timestamptz) from public;
