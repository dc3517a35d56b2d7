-- The first instant after `after` at which a parsed schedule fires in a zone; null if there is none within 41 years (29
-- February and a weekday meet at least every 40 years).
--
-- A fixed time is looked for on the local calendar and then mapped: once per local day, at the end of a gap, at the
-- first of two. Any other schedule is looked for along real time: within a stretch of one offset the calendar's answer
-- is the answer, at the end of the stretch the search goes on, so that what repeats is repeated and what is skipped
-- does not come. No interval of days is ever added to an instant: that would be a day of the session's zone.
create or replace function uptuple.cron_fire_after(schedule uptuple.cron_schedule, time_zone text, after timestamptz)
returns timestamptz
language plpgsql
stable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  day constant interval := interval '25 hours';
  at timestamptz := date_trunc('second', after);
  local_time timestamp := at at time zone time_zone;
  latest constant timestamp := local_time + interval '41 years';
  candidate timestamp;
  stretch_end timestamptz;
  found timestamptz;
begin
  if schedule.fixed_time then
    if uptuple.local_instant(local_time, time_zone) < at then
      -- In the second pass of an overlap everything that is repeated has been; go on where the clock is new again.
      local_time := (uptuple.offset_change(time_zone, at - day, at) - interval '1 s') at time zone time_zone;
    end if;
    return uptuple.local_instant(uptuple.cron_next_local(schedule, local_time + interval '1 s', latest), time_zone);
  end if;

  at := at + interval '1 s';
  local_time := at at time zone time_zone;
  candidate := uptuple.cron_next_local(schedule, local_time, latest);
  while candidate is not null loop
    found := (candidate - (local_time - (at at time zone 'UTC'))) at time zone 'UTC';
    if (at + day) at time zone time_zone - local_time <> day then
      stretch_end := uptuple.offset_change(time_zone, at, at + day);
      if found < stretch_end then
        return found;
      end if;
      at := stretch_end;
    elsif candidate - local_time <= day then
      return found;
    else
      at := uptuple.local_instant(candidate, time_zone);
      if at at time zone time_zone = candidate then
        return at;
      end if;
    end if;
    local_time := at at time zone time_zone;
    candidate := uptuple.cron_next_local(schedule, local_time, latest);
  end loop;
  return null;
end
$function$;

comment on function uptuple.cron_fire_after(uptuple.cron_schedule, text, timestamptz) is
  'The first instant after a given one at which a parsed cron schedule fires in a zone, or null.';

revoke execute on function uptuple.cron_fire_after(uptuple.cron_schedule, text, timestamptz) from public;
