-- Whether any of the assertions looks at the body. Reads nothing. Called where a configuration is derived from its assertions.
create or replace function uptuple.reads_body(assertions jsonb)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
return exists (select from uptuple.assertion_leaves(assertions) leaf where leaf ?| '{body,json}');

comment on function uptuple.reads_body(jsonb) is 'Whether any of the assertions looks at the body.';

revoke execute on function uptuple.reads_body(jsonb) from public;
