-- Give maintenance that recurs another schedule of the same form, and make what is still to come anew. What is under way goes on to its end.
--
-- The caller, change_maintenance, holds lock_maintenance. Writes maintenance_window and maintenance_occurrence.
create or replace function uptuple.reschedule_recurring(
  planned uptuple.maintenance_window,
  at timestamptz,
  starts_at timestamptz,
  ends_at timestamptz,
  duration interval,
  day date,
  weekdays text[],
  from_time time,
  until_time time,
  cron text,
  time_zone text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  moved uptuple.maintenance_window;
begin
  if day is not null or planned.recurrence = 'WEEKLY' and cron is not null or planned.recurrence = 'CRON' and weekdays is not null then
    raise exception 'maintenance % is %, and cannot become one of another form', planned.id, planned.recurrence
      using errcode = 'UT002', hint = 'Cancel it and plan another one. Nothing was changed.';
  end if;
  moved := uptuple.maintenance_schedule(
    at, coalesce(starts_at, planned.starts_at), nullif(coalesce(ends_at, planned.ends_at), 'infinity'),
    coalesce(duration, planned.duration), null, coalesce(weekdays, planned.weekdays), coalesce(from_time, planned.from_time),
    coalesce(until_time, planned.until_time), coalesce(cron, planned.cron), coalesce(time_zone, planned.time_zone)
  );

  update uptuple.maintenance_window changed
  set starts_at = moved.starts_at, ends_at = moved.ends_at, weekdays = moved.weekdays, from_time = moved.from_time,
      until_time = moved.until_time, cron = moved.cron, duration = moved.duration, time_zone = moved.time_zone, made_until = at
  where changed.id = planned.id;
  delete from uptuple.maintenance_occurrence occurrence
  where occurrence.window_id = planned.id and lower(occurrence.during) > at;
  perform uptuple.make_occurrences(planned.id);
end
$function$;

comment on function uptuple.reschedule_recurring(
  uptuple.maintenance_window, timestamptz, timestamptz, timestamptz, interval, date, text[], time, time, text, text
) is 'Gives maintenance that recurs another schedule.';

revoke execute on function uptuple.reschedule_recurring(
  uptuple.maintenance_window, timestamptz, timestamptz, timestamptz, interval, date, text[], time, time, text, text
) from public;
