-- The row of heartbeat of the service of that name, or UT001 or UT002. Called by heartbeat_url and rotate_heartbeat_token.
create or replace function uptuple.find_heartbeat(service text)
returns uptuple.heartbeat
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  found_beat uptuple.heartbeat;
begin
  select beat.* into found_beat
  from uptuple.service named
  join uptuple.heartbeat beat on beat.service_id = named.id
  where named.name = find_heartbeat.service and named.removed_at is null;
  if not found then
    raise exception 'there is no heartbeat named %', quote_nullable(find_heartbeat.service)
      using errcode = 'UT001', hint = 'select service from uptuple.heartbeats lists them.';
  end if;
  return found_beat;
end
$function$;

comment on function uptuple.find_heartbeat(text) is 'What is expected of the heartbeat of that name; UT001 if there is none.';

revoke execute on function uptuple.find_heartbeat(text) from public;
