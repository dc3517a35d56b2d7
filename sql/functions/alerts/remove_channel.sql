-- Remove a channel: its name is free, what it got stays on record, what it did not get is discarded with that reason.
--
-- A notice that is being sent right now may still arrive; its acknowledgement is refused. Writes channel and delivery.
create or replace function uptuple.remove_channel(name text)
returns bigint
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
  perform 1 from uptuple.delivery
  where delivery.channel_id = channel.id and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
  order by delivery.id
  for no key update;

  update uptuple.delivery
  set state = 'DISCARDED', claim_token = null, finished_at = clock_timestamp(), note = 'the channel was removed'
  where delivery.channel_id = channel.id and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD');
  update uptuple.channel changed
  set enabled = false, removed_at = clock_timestamp(), suspended_at = null, suspended_reason = null, probe_at = null
  where changed.id = channel.id;
  return channel.id;
end
$function$;

comment on function uptuple.remove_channel(text) is
  'Remove a channel; its name is free. What it did not get is discarded with that reason. Returns its id.';

revoke execute on function uptuple.remove_channel(text) from public;
grant execute on function uptuple.remove_channel(text) to uptuple_operator;
