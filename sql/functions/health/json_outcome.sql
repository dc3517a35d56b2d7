-- What a JSON path finds in a body, held against operators: each value that it finds must hold. MISSING if it finds none, INVALID_JSON if
-- the body is no JSON. Reads nothing; called by assertion_outcome.
create or replace function uptuple.json_outcome(path text, operators jsonb, document uptuple.json_body)
returns uptuple.outcome
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  found_values jsonb;
  size integer;
  place bigint;
  failing jsonb;
begin
  if document.fault is not null then
    return ('INVALID_JSON', document.fault)::uptuple.outcome;
  end if;
  found_values := jsonb_path_query_array(document.value, path::jsonpath, '{}', true);
  size := jsonb_array_length(found_values);
  if size = 0 then
    return (case when operators @> '{"exists": false}' then 'PASS' else 'MISSING' end, 'nothing at this path')::uptuple.outcome;
  end if;

  select entry.place, entry.value into place, failing
  from jsonb_array_elements(found_values) with ordinality entry (value, place)
  where exists (select from jsonb_each(operators) operator where not uptuple.compares(operator.key, entry.value, operator.value))
  order by entry.place
  limit 1;
  return (
    case when place is null then 'PASS' else 'FAIL' end,
    left(coalesce(failing, found_values -> 0)::text, 120)
      || case when jsonb_typeof(failing) = 'string' and exists (select from jsonb_each(operators) operator where jsonb_typeof(operator.value) = 'number')
        then ', a text' else '' end
      || case when size > 1 then format(' (value %s of %s)', coalesce(place, 1), size) else '' end
  )::uptuple.outcome;
end
$function$;

comment on function uptuple.json_outcome(text, jsonb, uptuple.json_body) is 'What a JSON path finds in a body, held against operators.';

revoke execute on function uptuple.json_outcome(text, jsonb, uptuple.json_body) from public;
grant execute on function uptuple.json_outcome(text, jsonb, uptuple.json_body) to uptuple_worker, uptuple_operator, uptuple_viewer;
