-- When a heartbeat is expected next, after it has reported at a given moment.
--
-- By its interval, or at the next fire of its cron expression. A report that comes a little before a fire is that fire's: two machines'
-- clocks differ, and a job that is ahead by a second must not be expected a second later again. A little is a tenth of the time between
-- fires, and 30 s at most. What never fires again is expected in 400 days. Called by take_beat, check_heartbeats and start_heartbeat.
create or replace function uptuple.next_beat(config jsonb, interval_seconds integer, after timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  first timestamptz;
  second timestamptz;
begin
  if not config ? 'cron' then
    return after + make_interval(secs => interval_seconds);
  end if;
  first := uptuple.cron_next(config ->> 'cron', config ->> 'zone', after);
  second := uptuple.cron_next(config ->> 'cron', config ->> 'zone', first);
  return coalesce(
    case when first - after <= least((second - first) / 10, interval '30 s') then second end,
    first,
    after + interval '400 days'
  );
end
$function$;

comment on function uptuple.next_beat(jsonb, integer, timestamptz) is
  'When a heartbeat with that configuration is expected next, after it has reported at a given moment.';

revoke execute on function uptuple.next_beat(jsonb, integer, timestamptz) from public;
