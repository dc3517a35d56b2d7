-- The URL that a service calls to report. It holds the secret token: whoever has it can say that the service is well.
--
-- For operators only; no view and no page shows it. Reads heartbeat.
create or replace function uptuple.heartbeat_url(service text, base_url text default '')
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select rtrim(base_url, '/') || '/heartbeat/' || (uptuple.find_heartbeat(service)).token;
$function$;

comment on function uptuple.heartbeat_url(text, text) is
  'The URL that a service calls to report, below the base URL of the pages: select uptuple.heartbeat_url(''backup'', ''https://status.example.com''). '
  'Add /start, /fail or an exit code. It is a secret.';

revoke execute on function uptuple.heartbeat_url(text, text) from public;
grant execute on function uptuple.heartbeat_url(text, text) to uptuple_operator;
