-- The configuration of a service that reports by itself: overdue after its interval, or after the times of a cron expression, and grace.
--
-- grace is 1 minute to 30 days; left out, it is the smaller of the interval and 1 hour, and at least 1 minute, as of when options are
-- written. Reads the server's time zones if a zone is given. Called by check_config.
create or replace function uptuple.heartbeat_config(every interval, options jsonb)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  grace interval := greatest(least(every, interval '1 hour'), interval '1 minute');
  zone text;
begin
  if options ? 'grace' then
    begin
      grace := (options ->> 'grace')::interval;
    exception when data_exception then
      grace := null;
    end;
    if (grace between interval '1 minute' and interval '30 days') is not true then
      raise exception 'options has the grace %, and it must be a time from 1 minute to 30 days', quote_nullable(left(options ->> 'grace', 100))
        using errcode = 'invalid_parameter_value', hint = 'For example ''{"grace": "15 minutes"}''.';
    end if;
  end if;
  if options ? 'zone' and not options ? 'cron' then
    raise exception 'options has a zone without a cron expression'
      using errcode = 'invalid_parameter_value', hint = 'A zone says in whose time cron is meant: ''{"cron": "0 3 * * *", "zone": "Europe/Berlin"}''.';
  end if;
  if options ? 'cron' then
    zone := uptuple.canonical_zone(coalesce(options ->> 'zone', 'UTC'));
    perform uptuple.cron_validate(options ->> 'cron', zone);
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'grace_seconds', ceil(extract(epoch from grace))::integer,
    'cron', options -> 'cron',
    'zone', zone
  ));
end
$function$;

comment on function uptuple.heartbeat_config(interval, jsonb) is
  'The configuration of a heartbeat as service_revision stores it: grace_seconds, and cron and zone if it goes by a cron expression.';

revoke execute on function uptuple.heartbeat_config(interval, jsonb) from public;
