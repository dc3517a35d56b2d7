-- The first local time at or after `earliest` that a cron schedule allows, on a calendar without clock changes; null if
-- none is before `latest`. Works as an odometer: each wheel turns to its next allowed value, a wheel that moved sets
-- the ones below it to their first, and one that runs over moves the one above. `earliest` is a whole second. Bounded
-- by `latest`: at most one step a month.
create or replace function uptuple.cron_next_local(schedule uptuple.cron_schedule, earliest timestamp, latest timestamp)
returns timestamp
language plpgsql
immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  second integer := extract(second from earliest)::integer;
  minute integer := extract(minute from earliest)::integer;
  hour integer := extract(hour from earliest)::integer;
  first_second constant integer := position(B'1' in schedule.seconds) - 1;
  first_minute constant integer := position(B'1' in schedule.minutes) - 1;
  first_hour constant integer := position(B'1' in schedule.hours) - 1;
  day date := earliest::date;
  first_day date;
  ahead integer;
begin
  ahead := position(B'1' in substring(schedule.seconds from second + 1));
  if ahead = 0 then
    minute := minute + 1;
  end if;
  second := case ahead when 0 then first_second else second + ahead - 1 end;

  ahead := position(B'1' in substring(schedule.minutes from minute + 1));
  if ahead = 0 then
    hour := hour + 1;
  end if;
  if ahead <> 1 then
    second := first_second;
  end if;
  minute := case ahead when 0 then first_minute else minute + ahead - 1 end;

  ahead := position(B'1' in substring(schedule.hours from hour + 1));
  if ahead = 0 then
    day := day + 1;
  end if;
  if ahead <> 1 then
    minute := first_minute;
    second := first_second;
  end if;
  hour := case ahead when 0 then first_hour else hour + ahead - 1 end;

  loop
    first_day := day - (extract(day from day)::integer - 1);
    if get_bit(schedule.months, extract(month from day)::integer - 1) = 1 then
      ahead := position(B'1' in substring(uptuple.cron_month_days(schedule, first_day) from day - first_day + 1));
      exit when ahead > 0;
    end if;
    day := (first_day + interval '1 month')::date;
    if day > latest then
      return null;
    end if;
  end loop;
  if ahead > 1 or day > earliest::date then
    hour := first_hour;
    minute := first_minute;
    second := first_second;
  end if;
  return day + (ahead - 1) + make_time(hour, minute, second);
end
$function$;

comment on function uptuple.cron_next_local(uptuple.cron_schedule, timestamp, timestamp) is
  'The first local time at or after earliest that the schedule allows, clock changes left aside; null if there is '
  'none up to latest.';

revoke execute on function uptuple.cron_next_local(uptuple.cron_schedule, timestamp, timestamp) from public;
