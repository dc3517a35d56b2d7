-- A duration given to a lock, in seconds alone, so that neither the session's zone nor the length of a month bears on
-- it: a month is 30 days. Refuses null, what is negative and what is longer than a hundred years; zero only where it may
-- be. Called by acquire_lock and extend_lock.
create or replace function uptuple.lock_duration(argument text, duration interval, may_be_zero boolean)
returns interval
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if (duration >= interval '0 s' and (may_be_zero or duration > interval '0 s')) is not true then
    raise exception '% is %, and must be %', argument, coalesce(duration::text, 'null'),
        case when may_be_zero then 'zero or longer' else 'longer than zero' end
      using errcode = 'invalid_parameter_value', hint = 'For example ' || argument || ' => ''10 minutes''.';
  elsif duration > interval '100 years' then
    raise exception '% is %, and must be at most 100 years', argument, duration
      using errcode = 'invalid_parameter_value', hint = 'The lock of a holder that died is free only then.';
  end if;
  return make_interval(secs => extract(epoch from duration)::double precision);
end
$function$;

comment on function uptuple.lock_duration(text, interval, boolean) is
  'A lock''s duration in seconds alone; refuses null, negative ones, and more than 100 years.';

revoke execute on function uptuple.lock_duration(text, interval, boolean) from public;
