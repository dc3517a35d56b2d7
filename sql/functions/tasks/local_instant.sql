-- The first instant at which the clocks of a zone show a local time: the first of two where clocks go back, and where
-- clocks go forward over it, the first instant after the gap. AT TIME ZONE alone gives the second of two, and in a gap
-- an instant as far behind the gap's end as the local time is behind its start.
create or replace function uptuple.local_instant(local_time timestamp, time_zone text)
returns timestamptz
language plpgsql
stable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  later constant timestamptz := local_time at time zone time_zone;
  day_before constant timestamptz := later - interval '25 hours';
  earlier timestamptz;
begin
  if later at time zone time_zone <> local_time then
    return uptuple.offset_change(time_zone, day_before, later);
  end if;
  earlier := (local_time - ((day_before at time zone time_zone) - (day_before at time zone 'UTC'))) at time zone 'UTC';
  if earlier < later and earlier at time zone time_zone = local_time then
    return earlier;
  end if;
  return later;
end
$function$;

comment on function uptuple.local_instant(timestamp, text) is
  'The first instant at which the clocks of a zone show a local time, or the first after the gap that swallowed it.';

revoke execute on function uptuple.local_instant(timestamp, text) from public;
