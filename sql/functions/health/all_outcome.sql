-- PASS if each of the assertions holds; else what those that do not have found, and UNKNOWN if the only ones could not be decided. Reads
-- nothing; called by assertion_outcome.
create or replace function uptuple.all_outcome(assertions jsonb, observation jsonb, document uptuple.json_body, at timestamptz)
returns uptuple.outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
begin
  return (
    select (
      case when bool_and(held.outcome = 'PASS') then 'PASS' when bool_and(held.outcome in ('PASS', 'UNKNOWN')) then 'UNKNOWN' else 'FAIL' end,
      coalesce(
        string_agg(uptuple.assertion_text(entry.value) || ': found ' || held.found, '; ' order by entry.place) filter (where held.outcome <> 'PASS'),
        'all of them'
      )
    )::uptuple.outcome
    from jsonb_array_elements(assertions) with ordinality entry (value, place)
    cross join lateral uptuple.assertion_outcome(entry.value, observation, document, at) held
  );
end
$function$;

comment on function uptuple.all_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) is 'PASS if each of the assertions holds.';

revoke execute on function uptuple.all_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) from public;
grant execute on function uptuple.all_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
