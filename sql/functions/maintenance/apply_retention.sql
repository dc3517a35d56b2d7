-- Let go of what is older than set_retention says: partitions of jobs and results, roll-ups, notices that were sent or discarded.
--
-- Each part takes what it gets without waiting and is bounded; what is left goes with the next call. Nothing unsent is ever deleted, no day
-- before it is rolled up. After a month without upkeep it has a month to drop, and each call of roll_up gives it more. Called once an
-- hour by a scheduled task. Writes through drop_old_partitions, forget_roll_ups and forget_alerts.
create or replace function uptuple.apply_retention()
returns table (partitions_dropped integer, roll_ups_deleted bigint, notices_deleted bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  forgotten integer;
  calls integer := 0;
begin
  -- Last, since its locks are held to the end: nobody should wait behind them.
  roll_ups_deleted := uptuple.forget_roll_ups();
  notices_deleted := 0;
  loop
    forgotten := uptuple.forget_alerts();
    notices_deleted := notices_deleted + forgotten;
    calls := calls + 1;
    exit when forgotten = 0 or calls = 10;
  end loop;
  partitions_dropped := uptuple.drop_old_partitions();
  return next;
end
$function$;

comment on function uptuple.apply_retention() is
  'Drops and deletes what is older than set_retention says: partitions of jobs and results that are rolled up, roll-ups, notices that were sent '
  'or discarded. Returns how many of each. Call it once an hour.';

revoke execute on function uptuple.apply_retention() from public;
grant execute on function uptuple.apply_retention() to uptuple_task, uptuple_worker, uptuple_operator;
