-- The instant in (low, high] at which a zone's offset stops being what it is at `low`, to the second. PostgreSQL shows
-- no table of a zone's transitions, so it is found by halving: 17 steps for a day. Needs one change in between, no
-- more; `low` is a whole second. Called by local_instant and cron_fire_after with low and high 25 hours apart, which is
-- longer than any change of a clock.
create or replace function uptuple.offset_change(time_zone text, low timestamptz, high timestamptz)
returns timestamptz
language plpgsql
stable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  before constant interval := (low at time zone time_zone) - (low at time zone 'UTC');
  same integer := 0;
  changed integer := extract(epoch from high - low)::integer;
  middle integer;
  at timestamptz;
begin
  while changed - same > 1 loop
    middle := (same + changed) / 2;
    at := low + make_interval(secs => middle);
    if (at at time zone time_zone) - (at at time zone 'UTC') = before then
      same := middle;
    else
      changed := middle;
    end if;
  end loop;
  return low + make_interval(secs => changed);
end
$function$;

comment on function uptuple.offset_change(text, timestamptz, timestamptz) is
  'The instant between low and high at which the clocks of a zone change.';

revoke execute on function uptuple.offset_change(text, timestamptz, timestamptz) from public;
