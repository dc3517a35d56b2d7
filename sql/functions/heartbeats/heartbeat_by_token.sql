-- heartbeat for whoever knows the token in the URL. Null if there is no such token, or its service was removed.
--
-- Called by the web role, which has read event and exit code from the path. Reads heartbeat by the key of the token; writes through take_beat.
create or replace function uptuple.heartbeat_by_token(token uuid, event text, exit_code integer, reason text)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  wanted bigint;
begin
  select beat.service_id into wanted
  from uptuple.heartbeat beat
  join uptuple.service on service.id = beat.service_id
  where beat.token = token and service.removed_at is null;
  if not found then
    return null;
  end if;
  return uptuple.take_beat(wanted, event, exit_code, reason);
end
$function$;

comment on function uptuple.heartbeat_by_token(uuid, text, integer, text) is
  'Takes in what the service with that token says of itself. Answers its status, PAUSED while it is disabled, null if there is no such token.';

revoke execute on function uptuple.heartbeat_by_token(uuid, text, integer, text) from public;
grant execute on function uptuple.heartbeat_by_token(uuid, text, integer, text) to uptuple_worker;
