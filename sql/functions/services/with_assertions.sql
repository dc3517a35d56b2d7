-- A configuration with these assertions in place of those it has, and with what follows from them: whether the body is read, which headers
-- are reported, and whether they and not expected_statuses say which statuses are right. Reads nothing. Called by http_config, and for what is
-- only tried.
create or replace function uptuple.with_assertions(config jsonb, assertions jsonb)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $function$
  select $1 - '{assertions,read_body,want_headers,status_asserted}'::text[]
    || case when $2 = '[]' then '{}' else jsonb_build_object('assertions', $2) end
    || jsonb_strip_nulls(jsonb_build_object(
      'read_body', nullif(bool_or(leaf ?| '{body,json}'), false),
      'want_headers', jsonb_agg(distinct leaf -> 'header') filter (where leaf ? 'header'),
      'status_asserted', nullif(bool_or(leaf ? 'status') and $1 ->> 'expected_statuses' = '{[200,300)}', false)
    ))
  from uptuple.assertion_leaves($2) leaf;
$function$;

comment on function uptuple.with_assertions(jsonb, jsonb) is 'A configuration with these assertions in place of those it has, and what follows from them.';

revoke execute on function uptuple.with_assertions(jsonb, jsonb) from public;
