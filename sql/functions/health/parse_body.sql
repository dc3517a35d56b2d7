-- The body of an observation as JSON, or why it is none: not valid, nested too deep, or cut off. Reads nothing; called by assertion_outcomes.
create or replace function uptuple.parse_body(observation jsonb)
returns uptuple.json_body
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  body constant text := coalesce(observation ->> 'body', observation ->> 'received');
begin
  if body is null then
    return (null, 'no body')::uptuple.json_body;
  end if;
  return (body::jsonb, null)::uptuple.json_body;
exception when data_exception or program_limit_exceeded or statement_too_complex then
  return (null, 'no valid JSON: ' || case
    when observation @> '{"body_capped": true}' then format('only the first %s bytes of the body were read', octet_length(body))
    else sqlerrm
  end)::uptuple.json_body;
end
$function$;

comment on function uptuple.parse_body(jsonb) is 'The body of an observation as JSON, or why it is none.';

revoke execute on function uptuple.parse_body(jsonb) from public;
grant execute on function uptuple.parse_body(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
