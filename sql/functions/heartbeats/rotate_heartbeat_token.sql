-- Give a heartbeat another token: the old one is unknown from now on. Returns the new URL, as heartbeat_url does.
--
-- For operators, when a token has become known to others. A call that is under way with the old one still counts. Writes heartbeat.
create or replace function uptuple.rotate_heartbeat_token(service text, base_url text default '')
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  update uptuple.heartbeat
  set token = gen_random_uuid()
  where heartbeat.service_id = (uptuple.find_heartbeat(service)).service_id;
  return uptuple.heartbeat_url(service, base_url);
end
$function$;

comment on function uptuple.rotate_heartbeat_token(text, text) is
  'Gives a heartbeat another token and returns its new URL; calls with the old one are answered 404 from now on.';

revoke execute on function uptuple.rotate_heartbeat_token(text, text) from public;
grant execute on function uptuple.rotate_heartbeat_token(text, text) to uptuple_operator;
