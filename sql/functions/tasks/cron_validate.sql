-- Raises an error that names field, value and what is allowed unless the expression is a cron expression that fires in
-- that zone some day. The last part finds 30 February, and also what only ever falls into a zone's gap, at once. Called
-- whenever a task is written; for people too.
create or replace function uptuple.cron_validate(expression text, time_zone text default 'UTC')
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  if expression is null or time_zone is null then
    raise exception 'a cron expression and a time zone must be given, not null' using errcode = 'invalid_parameter_value';
  end if;
  if uptuple.cron_fire_after(uptuple.cron_parse(expression), uptuple.canonical_zone(time_zone), now()) is null then
    raise exception 'cron expression "%" never fires in %', expression, time_zone
      using errcode = 'invalid_parameter_value',
            hint = 'Within 41 years no instant fits all fields. 30 February does not exist, 15W is never a Sunday, and '
                   'an hour that a zone skips does not come.';
  end if;
end
$function$;

comment on function uptuple.cron_validate(text, text) is
  'An error that names the field, the value and what is allowed, unless the cron expression is valid and fires some '
  'day.';

revoke execute on function uptuple.cron_validate(text, text) from public;
grant execute on function uptuple.cron_validate(text, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
