-- When a window is to be, from what a person gave, or an error that names what is missing or too much.
--
-- Four forms: from an instant (default: now) to another or for a duration; on a day, from a time to a time; on days of the week, from a time to
-- a time; by a cron, for a duration. In the last two starts_at and ends_at bound the recurrence. `at` is what counts as now.
-- Called by plan_maintenance and change_maintenance.
create or replace function uptuple.maintenance_schedule(
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
returns uptuple.maintenance_window
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  forms constant text := 'Give ends_at or duration; or day, from_time and until_time; or weekdays, from_time and until_time; or cron and duration.';
  zone constant text := uptuple.canonical_zone(coalesce(time_zone, 'UTC'));
  planned uptuple.maintenance_window;
  span tstzrange;
begin
  if num_nonnulls(day, weekdays, cron) > 1 then
    raise exception 'day, weekdays and cron cannot be given together' using errcode = 'invalid_parameter_value', hint = forms;
  end if;
  if (day is not null or weekdays is not null) <> (from_time is not null) or (from_time is null) <> (until_time is null) then
    raise exception 'from_time and until_time belong to a day or to weekdays, and these need both'
      using errcode = 'invalid_parameter_value', hint = forms;
  end if;
  if (day is not null or weekdays is not null) and duration is not null or cron is not null and duration is null then
    raise exception 'duration belongs to a cron or to starts_at, and a cron needs it' using errcode = 'invalid_parameter_value', hint = forms;
  end if;
  if not isfinite(coalesce(starts_at, at)) or not isfinite(coalesce(ends_at, at)) or not isfinite(coalesce(day, current_date)) then
    raise exception 'starts_at, ends_at and day must be points in time' using errcode = 'invalid_parameter_value', hint = forms;
  end if;
  if (extract(epoch from duration) between 1 and 366 * 86400) is false then
    raise exception 'duration is %, and must be between 1 second and 366 days', duration
      using errcode = 'invalid_parameter_value', hint = 'For example duration => ''2 hours''.';
  end if;

  if weekdays is null and cron is null then
    if day is not null then
      if starts_at is not null or ends_at is not null then
        raise exception 'starts_at and ends_at cannot be given together with day' using errcode = 'invalid_parameter_value', hint = forms;
      end if;
      span := uptuple.clock_span(day, from_time, until_time, uptuple.zone_rules(zone));
      starts_at := lower(span);
      ends_at := upper(span);
    elsif num_nonnulls(ends_at, duration) <> 1 then
      raise exception 'the end of the maintenance is not clear: either ends_at or duration' using errcode = 'invalid_parameter_value', hint = forms;
    end if;
    planned.recurrence := 'ONCE';
    planned.starts_at := coalesce(starts_at, at);
    planned.ends_at := coalesce(ends_at, planned.starts_at + make_interval(secs => extract(epoch from duration)::double precision));
    if planned.ends_at <= planned.starts_at or planned.ends_at > planned.starts_at + interval '8784 hours' then
      raise exception 'the maintenance would be from % to %, and must end later and within 366 days', planned.starts_at, planned.ends_at
        using errcode = 'invalid_parameter_value', hint = 'Give ends_at after starts_at, or a duration.';
    end if;
    return planned;
  end if;

  planned.starts_at := greatest(starts_at, at);
  planned.ends_at := ends_at;
  planned.time_zone := zone;
  if planned.ends_at <= planned.starts_at then
    raise exception 'ends_at is %, and must be later than the first possible start, %', ends_at, planned.starts_at
      using errcode = 'invalid_parameter_value', hint = 'Leave it out for maintenance that goes on.';
  end if;
  if weekdays is not null then
    planned.recurrence := 'WEEKLY';
    planned.from_time := from_time;
    planned.until_time := until_time;
    planned.weekdays := array(select distinct upper(left(btrim(name), 3)) from unnest(weekdays) name);
    if not planned.weekdays <@ '{MON,TUE,WED,THU,FRI,SAT,SUN}' or planned.weekdays = '{}' then
      raise exception 'weekdays is %, and must name days of the week', weekdays
        using errcode = 'invalid_parameter_value', hint = 'For example weekdays => ''{SAT,SUN}''.';
    end if;
    return planned;
  end if;

  planned.recurrence := 'CRON';
  planned.cron := cron;
  planned.duration := make_interval(secs => extract(epoch from duration)::double precision);
  perform uptuple.cron_validate(cron, zone);
  if duration > interval '31 days' then
    raise exception 'duration is %, and must be at most 31 days for a cron', duration
      using errcode = 'invalid_parameter_value', hint = 'For example duration => ''2 hours''.';
  end if;
  if exists (
    select
    from (
      select fire_at - lag(fire_at) over (order by fire_at) as gap from uptuple.cron_upcoming(cron, uptuple.zone_rules(zone), at, 100) fire_at
    ) fires
    where fires.gap < interval '1 minute'
  ) then
    raise exception 'cron is %, and starts more often than once a minute', quote_literal(cron)
      using errcode = 'invalid_parameter_value', hint = 'For example cron => ''0 3 * * *'' with duration => ''30 minutes''.';
  end if;
  return planned;
end
$function$;

comment on function uptuple.maintenance_schedule(
  timestamptz, timestamptz, timestamptz, interval, date, text[], time, time, text, text
) is 'When a window is to be, from what a person gave: once, on days of the week, or by a cron.';

revoke execute on function uptuple.maintenance_schedule(
  timestamptz, timestamptz, timestamptz, interval, date, text[], time, time, text, text
) from public;
