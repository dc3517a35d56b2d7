-- The next `count` instants (1 to 10,000) at which a cron expression fires in a zone, in order; fewer if it stops
-- firing.
create or replace function uptuple.cron_upcoming(
  expression text,
  time_zone text,
  after timestamptz default now(),
  count integer default 5
)
returns setof timestamptz
language plpgsql
stable strict
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  schedule constant uptuple.cron_schedule := uptuple.cron_parse(expression);
  zone constant text := uptuple.zone_rules(time_zone);
  fire_at timestamptz := after;
begin
  if not isfinite(after) then
    raise exception 'after must be a point in time, not %', after using errcode = 'invalid_parameter_value';
  elsif count not between 1 and 10000 then
    raise exception 'count must be between 1 and 10000, not %', count using errcode = 'invalid_parameter_value';
  end if;
  for turn in 1..count loop
    fire_at := uptuple.cron_fire_after(schedule, zone, fire_at);
    exit when fire_at is null;
    return next fire_at;
  end loop;
end
$function$;

comment on function uptuple.cron_upcoming(text, text, timestamptz, integer) is
  'The next instants at which a cron expression fires in a zone: select * from uptuple.cron_upcoming(''0 9 * * '
  'MON-FRI'', ''Europe/Berlin'');';

revoke execute on function uptuple.cron_upcoming(text, text, timestamptz, integer) from public;
grant execute on function uptuple.cron_upcoming(text, text, timestamptz, integer) to uptuple_worker, uptuple_operator, uptuple_viewer;
