-- End maintenance that is under way: now instead of when it was to. What waits for its end goes at once, unless other maintenance goes on.
--
-- One that recurs comes again as planned. One that is not under way is refused (UT002). Returns how many notices it let go or wait for
-- another end. Writes maintenance_window, maintenance_occurrence and delivery.
create or replace function uptuple.end_maintenance(maintenance bigint)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  planned constant uptuple.maintenance_window := uptuple.find_maintenance(maintenance);
begin
  if not uptuple.stop_occurrences(planned.id) then
    raise exception 'maintenance % is not under way', maintenance
      using errcode = 'UT002', hint = 'cancel_maintenance takes back one that is still to come. Nothing was changed.';
  end if;
  update uptuple.maintenance_window changed
  set sequence = changed.sequence + 1, changed_at = clock_timestamp(), changed_by = session_user
  where changed.id = planned.id;
  return uptuple.hold_notices();
end
$function$;

comment on function uptuple.end_maintenance(bigint) is
  'End maintenance that is under way; notices that waited for its end go at once. One that recurs comes again. Returns how many notices.';

revoke execute on function uptuple.end_maintenance(bigint) from public;
grant execute on function uptuple.end_maintenance(bigint) to uptuple_operator;
