-- Refuses an operator that a subject does not have, or a value that it cannot be compared with. Reads nothing; called by check_assertion.
create or replace function uptuple.check_operator(place text, subject text, operator text, wanted jsonb)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  of_numbers constant text[] := '{==,!=,<,<=,>,>=}';
  of_texts constant text[] := '{==,!=,contains,not_contains,matches,not_matches}';
  operators constant text[] := case subject
    when 'latency_ms' then of_numbers
    when 'certificate_days' then of_numbers
    when 'body' then of_texts
    when 'header' then '{exists}' || of_texts
    else '{exists,==,!=,<,<=,>,>=,contains,not_contains,matches,not_matches}'
  end;
  allowed constant text := case
    when operator <> all (operators) then null
    when operator = 'exists' then 'true or false'
    when operator = any ('{contains,not_contains,matches,not_matches}') then 'a text of 1 to 500 characters'
    when subject = any ('{latency_ms,certificate_days}') then 'a number from 0 to 1000000000'
    when subject = any ('{body,header}') then 'a text of up to 500 characters'
    when operator = any ('{==,!=}') then 'a JSON value of up to 500 characters'
    else 'a number, or a text of up to 500 characters'
  end;
begin
  if allowed is null then
    raise exception 'assertion % has the operator %, which % does not have', place, quote_literal(left(operator, 100)), subject
      using errcode = 'invalid_parameter_value', hint = format('It has %s.', array_to_string(operators, ' '));
  end if;
  if (case allowed
    when 'true or false' then jsonb_typeof(wanted) <> 'boolean'
    when 'a number from 0 to 1000000000' then jsonb_typeof(wanted) <> 'number' or wanted::numeric not between 0 and 1000000000
    when 'a JSON value of up to 500 characters' then length(wanted::text) > 500
    when 'a number, or a text of up to 500 characters' then jsonb_typeof(wanted) not in ('number', 'string') or length(wanted::text) > 502
    when 'a text of up to 500 characters' then jsonb_typeof(wanted) <> 'string' or length(wanted #>> '{}') > 500
    -- The length of a pattern is check_pattern's to refuse.
    else jsonb_typeof(wanted) <> 'string' or wanted = '""' or operator ~ 'contains' and length(wanted #>> '{}') > 500
  end) then
    raise exception 'assertion % has % for %, and it must be %', place, left(wanted::text, 200), quote_literal(operator), allowed
      using errcode = 'invalid_parameter_value', hint = format('For example "%s": %s.', operator, case
        when operator = 'exists' then 'true'
        when allowed ~ '^a (number|JSON)' then '3'
        else '"ok"'
      end);
  end if;
  if operator ~ 'matches$' then
    perform uptuple.check_pattern(wanted #>> '{}', format('assertion %s', place));
  end if;
end
$function$;

comment on function uptuple.check_operator(text, text, text, jsonb) is 'Refuses an operator that a subject does not have, or a value that it cannot be compared with.';

revoke execute on function uptuple.check_operator(text, text, text, jsonb) from public;
