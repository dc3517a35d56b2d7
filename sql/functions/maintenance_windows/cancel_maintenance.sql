-- Take maintenance back: what is still to come of it is not, and what is under way ends now. What is past stays in the reports as it was.
--
-- One that is only once and over is refused (UT002), as is one that was cancelled before. Returns how many notices it let go. Writes
-- maintenance_window, maintenance_occurrence and delivery.
create or replace function uptuple.cancel_maintenance(maintenance bigint)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  planned constant uptuple.maintenance_window := uptuple.find_maintenance(maintenance);
  at constant timestamptz := clock_timestamp();
begin
  if planned.recurrence = 'ONCE' and planned.ends_at <= at then
    raise exception 'maintenance % ended at %', maintenance, planned.ends_at
      using errcode = 'UT002', hint = 'It cannot be taken back any more. Nothing was changed.';
  end if;
  perform uptuple.stop_occurrences(planned.id);
  update uptuple.maintenance_occurrence occurrence
  set cancelled_at = at
  where occurrence.window_id = planned.id and occurrence.cancelled_at is null and lower(occurrence.during) > at;
  update uptuple.maintenance_window changed
  set cancelled_at = at, sequence = changed.sequence + 1, changed_at = at, changed_by = session_user
  where changed.id = planned.id;
  return uptuple.hold_notices();
end
$function$;

comment on function uptuple.cancel_maintenance(bigint) is
  'Take maintenance back; what is under way ends now, and notices that waited for it go at once. Returns how many notices.';

revoke execute on function uptuple.cancel_maintenance(bigint) from public;
grant execute on function uptuple.cancel_maintenance(bigint) to uptuple_operator;
