-- If a fire falls into a change of a zone's clocks, where programs differ on whether it happens: until when they do. Null for any other.
--
-- Where clocks go back, all fires at times that come twice: some programs run them at the first, some at the second, some twice, some not.
-- Where clocks go forward, a fire at a time that does not come: it is moved to the end of the gap here, and skipped or moved by an hour
-- elsewhere. A fire whose own time is the end of the gap is like any other. Called by check_heartbeats.
create or replace function uptuple.unsure_until(expression text, time_zone text, fire_at timestamptz)
returns timestamptz
language plpgsql
stable strict
set search_path = pg_catalog, pg_temp
as $function$
declare
  zone constant text := uptuple.zone_rules(time_zone);
  low constant timestamptz := date_trunc('second', fire_at) - interval '25 hours';
  high constant timestamptz := low + interval '50 hours';
  ahead constant interval := ((high at time zone zone) - (low at time zone zone)) - (high - low);
  changed_at timestamptz;
  local_fire constant timestamp := fire_at at time zone zone;
begin
  if ahead = interval '0' then
    return null;
  end if;
  changed_at := uptuple.offset_change(zone, low, high);
  if ahead < interval '0' and fire_at >= changed_at + ahead and fire_at < changed_at - ahead then
    return changed_at - ahead;
  end if;
  if ahead > interval '0' and fire_at = changed_at
    and uptuple.cron_next_local(uptuple.cron_parse(expression), local_fire, local_fire + interval '41 years') is distinct from local_fire then
    return changed_at + ahead;
  end if;
  return null;
end
$function$;

comment on function uptuple.unsure_until(text, text, timestamptz) is
  'Until when programs differ on a fire that falls into a change of the clocks, or null if it does not.';

revoke execute on function uptuple.unsure_until(text, text, timestamptz) from public;
