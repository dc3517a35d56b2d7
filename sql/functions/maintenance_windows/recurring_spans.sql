-- When a window that recurs is: its occurrences that start from one instant on and before another, in order, at most 1000.
--
-- Dates are reckoned in the zone, and times added to each date; a cron fires as scheduled tasks do, and its duration is elapsed time. With
-- at_least, a cron gives so many however far ahead they are. Called by make_occurrences and plan_maintenance.
create or replace function uptuple.recurring_spans(
  planned uptuple.maintenance_window,
  since timestamptz,
  until timestamptz,
  at_least integer default 0
)
returns setof tstzrange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  at_most constant integer := 1000;
  zone constant text := uptuple.zone_rules(planned.time_zone);
  first_day constant date := (since at time zone zone)::date - 1;
  last_day constant date := (until at time zone zone)::date + 1;
  schedule uptuple.cron_schedule;
  starts_at timestamptz;
begin
  if planned.recurrence = 'WEEKLY' then
    return query
    select occurrence.span
    from generate_series(0, last_day - first_day) number
    cross join lateral (select first_day + number as day) calendar
    cross join lateral (select uptuple.clock_span(calendar.day, planned.from_time, planned.until_time, zone) as span) occurrence
    where to_char(calendar.day, 'DY') = any (planned.weekdays)
      and lower(occurrence.span) >= since and lower(occurrence.span) < until
    order by calendar.day
    limit at_most;
    return;
  end if;

  schedule := uptuple.cron_parse(planned.cron);
  starts_at := uptuple.cron_fire_after(schedule, zone, since - interval '1 us');
  for turn in 1..at_most loop
    exit when starts_at is null or starts_at >= until and turn > at_least;
    return next tstzrange(starts_at, starts_at + make_interval(secs => extract(epoch from planned.duration)::double precision));
    starts_at := uptuple.cron_fire_after(schedule, zone, starts_at);
  end loop;
end
$function$;

comment on function uptuple.recurring_spans(uptuple.maintenance_window, timestamptz, timestamptz, integer) is
  'The occurrences of a recurring window that start from one instant on and before another, at most 1000.';

revoke execute on function uptuple.recurring_spans(uptuple.maintenance_window, timestamptz, timestamptz, integer) from public;
