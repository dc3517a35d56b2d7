-- Count the hours and days between two moments anew from results and jobs, as if they had never been rolled up. Returns how many hours.
--
-- Whole days (UTC), as far as they have been rolled up. Days whose results were dropped are refused: nothing would be left of them. Gaps
-- keep their names where the jobs were dropped. Race, roll_up: this waits for it, and it skips meanwhile. Race, drop_old_partitions: it
-- leaves results alone while this reads them. For an operator, after rows were changed by hand. Writes service_hour and service_day.
create or replace function uptuple.rebuild_roll_ups(since timestamptz default null, until timestamptz default null)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  mark uptuple.roll_up_mark;
  kept_from timestamptz;
  from_second bigint;
  until_second bigint;
  hour_start bigint;
  written integer;
  done_to_service bigint;
  counted bigint := 0;
begin
  select roll_up_mark.* into mark from uptuple.roll_up_mark for no key update;
  select greatest(retention.gone_before, to_timestamp(mark.rolled_from)) into kept_from
  from uptuple.retention
  where retention.kind = 'results'
  for share;
  if date_trunc('day', since, 'UTC') < kept_from then
    raise exception 'since is %, and there are results from % on', since, kept_from
      using errcode = 'UT002', hint = 'Leave since out to rebuild all that can be rebuilt.';
  end if;

  from_second := extract(epoch from date_trunc('day', coalesce(since, kept_from), 'UTC'));
  until_second := least(mark.rolled_until, extract(epoch from date_trunc('day', until + interval '1 day' - interval '1 us', 'UTC')));
  for hour_start in select generate_series(from_second, until_second - 3600, 3600) loop
    done_to_service := 0;
    loop
      select lot.written, lot.last_service into written, done_to_service from uptuple.roll_up_next(hour_start, done_to_service) lot;
      exit when done_to_service is null;
      counted := counted + written;
    end loop;
  end loop;
  return counted;
end
$function$;

comment on function uptuple.rebuild_roll_ups(timestamptz, timestamptz) is
  'Counts the roll-ups of the whole days that lie between or touch two moments (default: all whose results are kept) anew. Returns how many '
  'hours of services had windows.';

revoke execute on function uptuple.rebuild_roll_ups(timestamptz, timestamptz) from public;
grant execute on function uptuple.rebuild_roll_ups(timestamptz, timestamptz) to uptuple_operator;
