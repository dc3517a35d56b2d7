-- Move maintenance that is only once. A start without an end keeps its length; of one that is under way only the end moves.
--
-- The caller, change_maintenance, holds lock_maintenance. A start in the past means now. Writes maintenance_window and maintenance_occurrence.
create or replace function uptuple.reschedule_once(
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
  if num_nonnulls(weekdays, cron) > 0 then
    raise exception 'maintenance % is only once, and cannot become one that recurs', planned.id
      using errcode = 'UT002', hint = 'Cancel it and plan another one. Nothing was changed.';
  end if;
  if day is null then
    starts_at := case when planned.starts_at <= at then coalesce(starts_at, planned.starts_at)
      else greatest(coalesce(starts_at, planned.starts_at), at) end;
    if num_nonnulls(ends_at, duration) = 0 then
      duration := planned.ends_at - planned.starts_at;
    end if;
  end if;
  moved := uptuple.maintenance_schedule(at, starts_at, ends_at, duration, day, null, from_time, until_time, null, time_zone);

  if planned.starts_at <= at and moved.starts_at <> planned.starts_at then
    raise exception 'maintenance % started at %', planned.id, planned.starts_at
      using errcode = 'UT002', hint = 'Only its end can be moved any more. Nothing was changed.';
  end if;
  moved.starts_at := case when planned.starts_at <= at then moved.starts_at else greatest(moved.starts_at, at) end;
  if moved.ends_at <= at then
    raise exception 'the maintenance would end at %, which is over', moved.ends_at
      using errcode = 'invalid_parameter_value', hint = 'To end it now use end_maintenance.';
  end if;

  update uptuple.maintenance_window changed
  set starts_at = moved.starts_at, ends_at = moved.ends_at
  where changed.id = planned.id;
  update uptuple.maintenance_occurrence occurrence
  set during = tstzrange(moved.starts_at, moved.ends_at)
  where occurrence.window_id = planned.id;
end
$function$;

comment on function uptuple.reschedule_once(
  uptuple.maintenance_window, timestamptz, timestamptz, timestamptz, interval, date, text[], time, time, text, text
) is 'Moves maintenance that is only once.';

revoke execute on function uptuple.reschedule_once(
  uptuple.maintenance_window, timestamptz, timestamptz, timestamptz, interval, date, text[], time, time, text, text
) from public;
