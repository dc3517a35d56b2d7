-- Stop sending to a channel. Notices that wait stay where they are; later ones are listed as SUPERSEDED. False if it was off already.
--
-- Holds the channel table against write_notices, so that an incident that opens meanwhile sees it either on or off. Writes channel.
create or replace function uptuple.disable_channel(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  channel uptuple.channel;
begin
  lock table uptuple.channel in exclusive mode;
  channel := uptuple.find_channel(name);
  update uptuple.channel changed
  set enabled = false, updated_at = clock_timestamp()
  where changed.id = channel.id and changed.enabled;
  return found;
end
$function$;

comment on function uptuple.disable_channel(text) is 'Stop sending to a channel. False if it was disabled already.';

revoke execute on function uptuple.disable_channel(text) from public;
grant execute on function uptuple.disable_channel(text) to uptuple_operator;
