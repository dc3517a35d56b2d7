-- A text held against operators, each of which must hold; where there is none, MISSING, unless that is what is wanted. shown is how the
-- text may be told in words. Reads nothing; called by assertion_outcome.
create or replace function uptuple.text_outcome(operators jsonb, seen text, missing text, shown text)
returns uptuple.outcome
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  failed text;
begin
  if seen is null then
    return (case when operators @> '{"exists": false}' then 'PASS' else 'MISSING' end, missing)::uptuple.outcome;
  end if;
  select key into failed
  from jsonb_each(operators)
  where not uptuple.compares(key, to_jsonb(seen), value)
  order by key
  limit 1;
  return (
    case when failed is null then 'PASS' else 'FAIL' end,
    case failed when 'not_contains' then 'it in ' when 'not_matches' then 'a match in ' when 'contains' then 'it not in ' when 'matches' then 'no match in '
      else '' end || shown
  )::uptuple.outcome;
end
$function$;

comment on function uptuple.text_outcome(jsonb, text, text, text) is 'A text held against operators; MISSING if there is none.';

revoke execute on function uptuple.text_outcome(jsonb, text, text, text) from public;
grant execute on function uptuple.text_outcome(jsonb, text, text, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
