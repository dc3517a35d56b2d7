-- A cron expression as masks of what it allows, and the two rules that follow from how it is written.
--
-- Five fields are Vixie's (Debian's): a day fits if its date or its weekday does, unless one of the two fields starts
-- with `*` or is `?`. Six fields are Spring's: seconds first, date and weekday must both fit, and `*/2` in day-of-week
-- counts from Monday, not from Sunday. `fixed_time` is the daylight-saving rule's question: neither minute nor hour
-- starts with `*`. Syntax only: whether the expression ever fires, cron_validate says. Called by cron_next,
-- cron_upcoming, cron_validate and the tasks' reckoning.
create or replace function uptuple.cron_parse(expression text)
returns uptuple.cron_schedule
language plpgsql
immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  months constant text := 'JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC';
  week_days constant text := 'SUNMONTUEWEDTHUFRISAT';
  written constant text := upper(btrim(expression, E' \t\r\n'));
  fields text[];
  six_fields boolean;
  schedule uptuple.cron_schedule;
  week bit varying := repeat('0', 8)::bit varying;
  term text;
  parts text[];
begin
  fields := regexp_split_to_array(case written
    when '@YEARLY' then '0 0 1 1 *'
    when '@ANNUALLY' then '0 0 1 1 *'
    when '@MONTHLY' then '0 0 1 * *'
    when '@WEEKLY' then '0 0 * * 0'
    when '@DAILY' then '0 0 * * *'
    when '@MIDNIGHT' then '0 0 * * *'
    when '@HOURLY' then '0 * * * *'
    else written
  end, '\s+');
  six_fields := cardinality(fields) = 6;

  if written like '@%' and cardinality(fields) = 1 then
    raise exception
        'cron nickname "%" is not known; allowed are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly',
        btrim(expression)
      using errcode = 'invalid_parameter_value',
            hint = 'A schedule that lives in the database has no @reboot.';
  elsif cardinality(fields) not in (5, 6) or length(expression) > 1000 then
    raise exception 'cron expression "%" has % fields; allowed are 5 or 6',
        left(expression, 100), case when written = '' then 0 else cardinality(fields) end
      using errcode = 'invalid_parameter_value',
            hint = 'Write "minute hour day-of-month month day-of-week", with the second before them if it is needed: "30 '
                   '3 * * *" is 03:30 every day.';
  end if;
  if not six_fields then
    fields := array_prepend('0', fields);
  end if;

  schedule.seconds := repeat('0', 60)::bit(60);
  schedule.minutes := repeat('0', 60)::bit(60);
  schedule.hours := repeat('0', 24)::bit(24);
  schedule.month_days := repeat('0', 31)::bit(31);
  schedule.days_before_last := repeat('0', 31)::bit(31);
  schedule.nearest_weekdays := repeat('0', 31)::bit(31);
  schedule.last_weekday := false;
  schedule.months := repeat('0', 12)::bit(12);
  schedule.nth_week_days := repeat('0', 35)::bit(35);
  schedule.last_week_days := repeat('0', 7)::bit(7);

  foreach term in array string_to_array(fields[1], ',') loop
    schedule.seconds := schedule.seconds | uptuple.cron_values(expression, 'second', term, 0, 59, 0, 59, '');
  end loop;
  foreach term in array string_to_array(fields[2], ',') loop
    schedule.minutes := schedule.minutes | uptuple.cron_values(expression, 'minute', term, 0, 59, 0, 59, '');
  end loop;
  foreach term in array string_to_array(fields[3], ',') loop
    schedule.hours := schedule.hours | uptuple.cron_values(expression, 'hour', term, 0, 23, 0, 23, '');
  end loop;
  foreach term in array string_to_array(case fields[4] when '?' then '*' else fields[4] end, ',') loop
    if term = 'LW' then
      schedule.last_weekday := true;
    elsif term ~ '^L(-([0-9]|[12][0-9]|30))?$' then
      schedule.days_before_last :=
        set_bit(schedule.days_before_last, coalesce(nullif(substring(term from 3), '')::integer, 0), 1);
    elsif term ~ '^([1-9]|[12][0-9]|3[01])W$' then
      schedule.nearest_weekdays := set_bit(schedule.nearest_weekdays, rtrim(term, 'W')::integer - 1, 1);
    else
      schedule.month_days := schedule.month_days | uptuple.cron_values(expression, 'day-of-month', term, 1, 31, 1, 31, '');
    end if;
  end loop;
  foreach term in array string_to_array(fields[5], ',') loop
    schedule.months := schedule.months | uptuple.cron_values(expression, 'month', term, 1, 12, 1, 12, months);
  end loop;
  foreach term in array string_to_array(case fields[6] when '?' then '*' else fields[6] end, ',') loop
    parts := regexp_match(term, '^([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(?:#([1-5])|L)$');
    if parts is null then
      week := week | uptuple.cron_values(expression, 'day-of-week', term, 0, 7,
        case when six_fields then 1 else 0 end, case when six_fields then 7 else 6 end, week_days);
      continue;
    end if;
    parts[1] := case
      when parts[1] ~ '[0-9]' then parts[1]::integer % 7
      else position(parts[1] in week_days) / 3
    end::text;
    if parts[2] is null then
      schedule.last_week_days := set_bit(schedule.last_week_days, parts[1]::integer, 1);
    else
      schedule.nth_week_days := set_bit(schedule.nth_week_days, (parts[2]::integer - 1) * 7 + parts[1]::integer, 1);
    end if;
  end loop;

  schedule.week_days := substring(set_bit(week, 0, get_bit(week, 0) | get_bit(week, 7)) for 7);
  schedule.either_day := not six_fields and fields[4] !~ '^[*?]' and fields[6] !~ '^[*?]';
  schedule.fixed_time := fields[2] not like '*%' and fields[3] not like '*%';
  return schedule;
end
$function$;

comment on function uptuple.cron_parse(text) is
  'A cron expression (five fields as in Vixie cron, six as in Spring, or a nickname) as bit masks. An error names '
  'the field, the value and what is allowed.';

revoke execute on function uptuple.cron_parse(text) from public;
