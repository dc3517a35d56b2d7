-- Let what is under way of a window end now. False if nothing is.
--
-- The caller holds lock_maintenance. Called by end_maintenance and cancel_maintenance. Writes maintenance_occurrence and, for a window that
-- is only once, maintenance_window.
create or replace function uptuple.stop_occurrences(window_id bigint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
begin
  update uptuple.maintenance_occurrence occurrence
  set during = tstzrange(lower(occurrence.during), greatest(at, lower(occurrence.during) + interval '1 us'))
  where occurrence.window_id = window_id and occurrence.cancelled_at is null and occurrence.during @> at;
  if not found then
    return false;
  end if;
  update uptuple.maintenance_window changed
  set ends_at = greatest(at, changed.starts_at)
  where changed.id = window_id and changed.recurrence = 'ONCE';
  return true;
end
$function$;

comment on function uptuple.stop_occurrences(bigint) is 'Ends the occurrences of a window that are under way. False if none is.';

revoke execute on function uptuple.stop_occurrences(bigint) from public;
