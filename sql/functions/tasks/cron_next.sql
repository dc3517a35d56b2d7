-- The first instant after `after` at which a cron expression fires in a zone; null if it does not fire within 41 years,
-- and for a null argument. A fixed time fires once per local day, at the end of a gap, at the first of two; what has a
-- `*` in front of minute or hour follows real time. The same whatever the session's TimeZone. Typically 0.15 ms. The
-- zone's name is not looked up here: canonical_zone does that when a task is written. Stable, not immutable: a new time
-- zone database changes the answers.
create or replace function uptuple.cron_next(expression text, time_zone text, after timestamptz)
returns timestamptz
language plpgsql
stable strict
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  if not isfinite(after) then
    raise exception 'after must be a point in time, not %', after using errcode = 'invalid_parameter_value';
  end if;
  return uptuple.cron_fire_after(uptuple.cron_parse(expression), uptuple.zone_rules(time_zone), after);
end
$function$;

comment on function uptuple.cron_next(text, text, timestamptz) is
  'The first instant after a given one at which a cron expression fires in a zone; null if it does not within 41 '
  'years. '
  'Five fields as in Vixie cron, six (seconds first) as in Spring, or @daily and the like.';

revoke execute on function uptuple.cron_next(text, text, timestamptz) from public;
grant execute on function uptuple.cron_next(text, text, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
