-- A list of assertions as it is stored, or an error that says which of them is wrong, in what, and the cure.
--
-- Up to 20 of them, those within any and all counted. What an assertion may look at depends on the kind of check: a resolver has no
-- headers. Reads nothing; called by check_config, test_assertions and what_if.
create or replace function uptuple.check_assertions(assertions jsonb, kind text, target text)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  subjects constant text[] := case
    when kind = 'http' then '{status,header,body,json,latency_ms,certificate_days}'
    when kind = 'tcp' and target ~ '^tls:' then '{body,json,latency_ms,certificate_days}'
    when kind = 'tcp' then '{body,json,latency_ms}'
    when kind = 'certificate' then '{latency_ms,certificate_days}'
    when kind in ('dns', 'postgresql') then '{latency_ms}'
    else '{}'
  end;
  checked jsonb;
  size integer;
begin
  if (jsonb_typeof(assertions) = 'array') is not true then
    raise exception 'assertions must be a JSON array'
      using errcode = 'invalid_parameter_value', hint = 'For example ''[{"body": {"contains": "ok"}}, {"latency_ms": {"<": 800}}]''.';
  end if;
  if assertions <> '[]' and subjects = '{}' then
    raise exception 'assertions are given, and there is nothing that they could look at in %', quote_literal(target)
      using errcode = 'invalid_parameter_value', hint = 'Leave them out.';
  end if;
  size := uptuple.assertion_count(assertions);
  if size > 20 then
    raise exception 'assertions has % of them', size
      using errcode = 'invalid_parameter_value', hint = 'Up to 20 are allowed, those within any and all counted.';
  end if;

  select coalesce(jsonb_agg(uptuple.check_assertion(entry.value, entry.place::text, subjects, 1) order by entry.place), '[]')
  into checked
  from jsonb_array_elements(assertions) with ordinality entry (value, place);

  if kind = 'http' and target ~ '^http:' and exists (select from uptuple.assertion_leaves(checked) leaf where leaf ? 'certificate_days') then
    raise exception 'assertions ask for the days of a certificate, and % has none', quote_literal(uptuple.shown_url(target))
      using errcode = 'invalid_parameter_value', hint = 'Use https://.';
  end if;
  return checked;
end
$function$;

comment on function uptuple.check_assertions(jsonb, text, text) is 'A list of assertions as it is stored, or an error that says which of them is wrong and the cure.';

revoke execute on function uptuple.check_assertions(jsonb, text, text) from public;
