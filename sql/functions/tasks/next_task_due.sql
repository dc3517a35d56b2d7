-- How long until claim_task may have something to return, in ms: 0 if it may now, null if nothing is ahead. For a
-- runtime that sleeps.
--
-- By the database's clock. A task whose lock is held is left out: the end of its run is not known ahead, so a runtime
-- looks again within a second anyway.
create or replace function uptuple.next_task_due()
returns double precision
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  next_due timestamptz;
begin
  select min(case when in_force.schedule is distinct from in_force.reckoned_for then at else in_force.next_fire_at end)
    into next_due
    from uptuple.task_in_force in_force
   where not exists (select from uptuple.locks held where held.name = in_force.lock_name);
  return case when next_due is not null then greatest(0, extract(epoch from next_due - at) * 1000) end::double precision;
end
$function$;

comment on function uptuple.next_task_due() is
  'Milliseconds until a task is due whose lock is free; null if none is ahead.';

revoke execute on function uptuple.next_task_due() from public;
grant execute on function uptuple.next_task_due() to uptuple_worker, uptuple_operator;
