-- The configuration of a check that logs in to a PostgreSQL database and selects 1. Reads nothing; called by check_config.
create or replace function uptuple.postgresql_config(insecure boolean, options jsonb)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
return jsonb_strip_nulls(jsonb_build_object(
  'tls', uptuple.tls_config(options),
  'insecure', nullif(coalesce(insecure, false), false)
));

comment on function uptuple.postgresql_config(boolean, jsonb) is 'The configuration of a postgresql:// check as service_revision stores it.';

revoke execute on function uptuple.postgresql_config(boolean, jsonb) from public;
