-- The days of one month on which a cron schedule fires, as a mask with one bit a day. Masks and no rows: a month costs
-- microseconds, so that a search over 41 years stays below 20 ms. `nW` is left out of months that have no day n, and
-- never leaves its month. Called by cron_next_local.
create or replace function uptuple.cron_month_days(schedule uptuple.cron_schedule, first_day date)
returns bit varying
language plpgsql
immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  days constant integer := (first_day + interval '1 month')::date - first_day;
  starts_on constant integer := extract(dow from first_day)::integer;
  ends_on constant integer := (starts_on + days - 1) % 7;
  by_date bit varying := substring(schedule.month_days for days)::bit varying;
  by_weekday bit varying;
  week_day integer;
  target integer;
begin
  if position(B'1' in schedule.days_before_last) > 0 then
    by_date := by_date | substring(reverse(schedule.days_before_last::text)::bit varying from 32 - days for days);
  end if;
  if schedule.last_weekday then
    by_date := set_bit(by_date, days - 1 - case ends_on when 6 then 1 when 0 then 2 else 0 end, 1);
  end if;
  if position(B'1' in schedule.nearest_weekdays) > 0 then
    for day in 1..days loop
      continue when get_bit(schedule.nearest_weekdays, day - 1) = 0;
      week_day := (starts_on + day - 1) % 7;
      target := day + case
        when week_day = 6 then case day when 1 then 2 else -1 end
        when week_day = 0 then case day when days then -2 else 1 end
        else 0
      end;
      by_date := set_bit(by_date, target - 1, 1);
    end loop;
  end if;

  by_weekday := substring(repeat(schedule.week_days::text, 6)::bit varying from starts_on + 1 for days);
  if position(B'1' in schedule.nth_week_days) > 0 or position(B'1' in schedule.last_week_days) > 0 then
    for day in 1..days loop
      week_day := (starts_on + day - 1) % 7;
      if get_bit(schedule.nth_week_days, (day - 1) / 7 * 7 + week_day) = 1
        or (day > days - 7 and get_bit(schedule.last_week_days, week_day) = 1)
      then
        by_weekday := set_bit(by_weekday, day - 1, 1);
      end if;
    end loop;
  end if;

  return case when schedule.either_day then by_date | by_weekday else by_date & by_weekday end::bit varying;
end
$function$;

comment on function uptuple.cron_month_days(uptuple.cron_schedule, date) is
  'The days of the month that begins at first_day on which the schedule fires, one bit a day.';

revoke execute on function uptuple.cron_month_days(uptuple.cron_schedule, date) from public;
