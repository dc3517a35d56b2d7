-- Refuses a schedule or thresholds that no service can have. Each error names the argument and what is allowed.
--
-- Times are whole: the interval in seconds, up to a day, and up to 366 days for a service that reports by itself; the timeout up to the smaller of the interval and 20 s, so that a lease
-- of 30 s outlives it with room. Called by add_service and update_service.
create or replace function uptuple.check_schedule(
  every interval,
  timeout interval,
  confirm_every interval,
  failure_threshold integer,
  recovery_threshold integer,
  regions text[],
  tags text[],
  probed boolean
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  longest constant integer := case when probed then 1 else 366 end;
begin
  if (extract(epoch from every) between 1 and 86400 * longest and mod(extract(epoch from every), 1) = 0) is not true then
    raise exception 'every is %, and must be whole seconds from 1 second to %', coalesce(every::text, 'null'),
      case when probed then '1 day' else '366 days' end
      using errcode = 'invalid_parameter_value', hint = 'For example every => ''30 seconds''.';
  end if;
  if (timeout between interval '100 ms' and least(every, interval '20 s')) is not true then
    raise exception 'timeout is %, and must be from 100 ms to the smaller of the interval (%) and 20 seconds', coalesce(timeout::text, 'null'), every
      using errcode = 'invalid_parameter_value', hint = 'Leave timeout out for the smaller of the interval and 10 seconds.';
  end if;
  if confirm_every is not null
    and (extract(epoch from confirm_every) between 1 and 86400 and mod(extract(epoch from confirm_every), 1) = 0) is not true then
    raise exception 'confirm_every is %, and must be whole seconds from 1 second to 1 day', confirm_every
      using errcode = 'invalid_parameter_value', hint = 'Leave it out for the smaller of the interval and 30 seconds.';
  end if;
  if (failure_threshold between 1 and 100) is not true then
    raise exception 'failure_threshold is %, and must be between 1 and 100', coalesce(failure_threshold::text, 'null')
      using errcode = 'invalid_parameter_value', hint = '3 means that the third DOWN in a row opens an incident.';
  end if;
  if (recovery_threshold between 1 and 100) is not true then
    raise exception 'recovery_threshold is %, and must be between 1 and 100', coalesce(recovery_threshold::text, 'null')
      using errcode = 'invalid_parameter_value', hint = '1 means that the first UP closes an incident.';
  end if;
  if (cardinality(regions) = 1 and regions[1] ~ '^[A-Za-z0-9_.-]{1,63}$') is not true then
    raise exception 'regions is %, and must name exactly one region', coalesce(regions::text, 'null')
      using errcode = 'invalid_parameter_value',
            hint = 'A second region needs quorum rules, which do not exist yet. Names are up to 63 letters, digits, dots, hyphens and underscores.';
  end if;
  if tags is null or array_position(tags, null) is not null or '' = any (tags) or cardinality(tags) > 100 then
    raise exception 'tags must be up to 100 words, none of them empty'
      using errcode = 'invalid_parameter_value', hint = 'For example tags => ''{payments,eu}''.';
  end if;
end
$function$;

comment on function uptuple.check_schedule(interval, interval, interval, integer, integer, text[], text[], boolean) is
  'Refuses a schedule or thresholds that no service can have, with an error that names the argument and the cure.';

revoke execute on function uptuple.check_schedule(interval, interval, interval, integer, integer, text[], text[], boolean) from public;
