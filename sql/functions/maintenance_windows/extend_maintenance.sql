-- Make the occurrences of all recurring windows ahead. Returns how many.
--
-- Called once an hour by a scheduled task, and does no harm more often: windows are some weeks ahead, at least 16 hours where they start
-- every minute. Waits for whoever changes a window. Writes maintenance_occurrence and maintenance_window.
create or replace function uptuple.extend_maintenance()
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  perform uptuple.lock_maintenance();
  return (
    select coalesce(sum(uptuple.make_occurrences(planned.id)), 0)
    from uptuple.maintenance_window planned
    where planned.recurrence <> 'ONCE' and planned.cancelled_at is null
  );
end
$function$;

comment on function uptuple.extend_maintenance() is 'Makes the occurrences of recurring maintenance ahead. Call it once an hour. Returns how many.';

revoke execute on function uptuple.extend_maintenance() from public;
grant execute on function uptuple.extend_maintenance() to uptuple_task, uptuple_worker, uptuple_operator;
