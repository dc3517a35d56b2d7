-- PASS if one of the assertions holds. If none does, what each of them found; UNKNOWN if one of them could not be decided. Reads nothing;
-- called by assertion_outcome.
create or replace function uptuple.any_outcome(assertions jsonb, observation jsonb, document uptuple.json_body, at timestamptz)
returns uptuple.outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
begin
  return (
    select (
      case when bool_or(held.outcome = 'PASS') then 'PASS' when bool_or(held.outcome = 'UNKNOWN') then 'UNKNOWN' else 'FAIL' end,
      case when bool_or(held.outcome = 'PASS') then min(uptuple.assertion_text(entry.value)) filter (where held.outcome = 'PASS')
        else 'none: ' || string_agg(uptuple.assertion_text(entry.value) || ': found ' || held.found, '; ' order by entry.place) end
    )::uptuple.outcome
    from jsonb_array_elements(assertions) with ordinality entry (value, place)
    cross join lateral uptuple.assertion_outcome(entry.value, observation, document, at) held
  );
end
$function$;

comment on function uptuple.any_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) is 'PASS if one of the assertions holds.';

revoke execute on function uptuple.any_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) from public;
grant execute on function uptuple.any_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
