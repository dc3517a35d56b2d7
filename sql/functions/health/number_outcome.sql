-- A number held against operators, each of which must hold; MISSING if there is none. Reads nothing; called by assertion_outcome.
create or replace function uptuple.number_outcome(operators jsonb, seen numeric, missing text)
returns uptuple.outcome
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  return (
    select case
      when seen is null then ('MISSING', missing)::uptuple.outcome
      else (case when bool_and(uptuple.compares(key, to_jsonb(seen), value)) then 'PASS' else 'FAIL' end, trim_scale(seen)::text)::uptuple.outcome
    end
    from jsonb_each(operators)
  );
end
$function$;

comment on function uptuple.number_outcome(jsonb, numeric, text) is 'A number held against operators; MISSING if there is none.';

revoke execute on function uptuple.number_outcome(jsonb, numeric, text) from public;
grant execute on function uptuple.number_outcome(jsonb, numeric, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
