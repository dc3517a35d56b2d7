-- The stretch of time that begins when the clocks of a zone show one time of a day and ends when they show another, on the next day if that
-- is not later.
--
-- On the day that clocks go back it begins at the first of two and ends at the last of two; where they go forward, each end that does not
-- exist is the first instant after the gap. One that lies wholly in the gap lasts as long as its two times are apart, from the gap's end: the
-- work that it announces is not skipped by the clock. Given a date, never an interval of days added to an instant, which would drift.
create or replace function uptuple.clock_span(day date, from_time time, until_time time, time_zone text)
returns tstzrange
language plpgsql
stable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  local_start constant timestamp := day + from_time;
  local_end constant timestamp := day + until_time + case when until_time > from_time then interval '0' else interval '1 day' end;
  starts_at constant timestamptz := uptuple.local_instant(local_start, time_zone);
  -- AT TIME ZONE gives the last of two.
  ends_at timestamptz := local_end at time zone time_zone;
begin
  if ends_at at time zone time_zone <> local_end then
    ends_at := uptuple.local_instant(local_end, time_zone);
  end if;
  if ends_at <= starts_at then
    ends_at := starts_at + (local_end - local_start);
  end if;
  return tstzrange(starts_at, ends_at);
end
$function$;

comment on function uptuple.clock_span(date, time, time, text) is
  'From one time of a day to another by the clocks of a zone: from the first of two to the last of two when clocks go back, from the end of '
  'the gap when they go forward.';

revoke execute on function uptuple.clock_span(date, time, time, text) from public;
