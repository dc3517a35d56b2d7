-- Send dead notices again: of a channel, of a cause as dead_letter_causes counts them, or all. Returns how many, at most 1000 a call.
--
-- As requeue_alert: same event_ids and bodies, all attempts, and what they held back waits behind them again. Race, an older notice comes
-- back to a lane that others are locking in the order of ids: whoever answers, gives back or discards is kept out by the channel table.
-- Writes delivery, through send_again.
create or replace function uptuple.requeue_alerts(channel text default null, cause text default null)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  ids bigint[];
begin
  lock table uptuple.channel in share row exclusive mode;
  ids := uptuple.dead_alerts(channel, cause);
  perform uptuple.lock_lanes('{}', ids);
  -- Somebody may have seen to some of them before the lanes were locked.
  ids := array(select delivery.id from uptuple.delivery where delivery.id = any (ids) and delivery.state = 'DEAD');
  if ids <> '{}' then
    perform uptuple.send_again(ids);
  end if;
  return cardinality(ids);
end
$function$;

comment on function uptuple.requeue_alerts(text, text) is
  'Send dead notices again: of a channel, of a cause as uptuple.dead_letter_causes counts them, or all. Returns how many, at most 1000 a call.';

revoke execute on function uptuple.requeue_alerts(text, text) from public;
grant execute on function uptuple.requeue_alerts(text, text) to uptuple_operator;
