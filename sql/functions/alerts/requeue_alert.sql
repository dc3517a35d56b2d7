-- Send a dead notice again: the same event_id and body, with all its attempts. What it held back waits behind it again.
--
-- Also one that was discarded or superseded. One that was sent is refused (UT002): the receiver has it. Writes
-- delivery, through send_again.
--
-- Race, an older notice comes back to a lane that others are locking in the order of ids: they would deadlock over it, so whoever answers,
-- gives back or discards is kept out by the channel table.
create or replace function uptuple.requeue_alert(delivery_id bigint)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  dead uptuple.delivery;
begin
  lock table uptuple.channel in share row exclusive mode;
  perform uptuple.lock_lanes('{}', array[delivery_id]);
  select delivery.* into dead from uptuple.delivery where delivery.id = delivery_id;
  if not found then
    raise exception 'there is no delivery %', coalesce(delivery_id::text, 'null')
      using errcode = 'UT001', hint = 'select delivery_id from uptuple.dead_deliveries lists the dead ones.';
  end if;
  if dead.state not in ('DEAD', 'DISCARDED', 'SUPERSEDED') then
    raise exception 'delivery % is %, and only one that is dead, discarded or superseded can be sent again', delivery_id, dead.state
      using errcode = 'UT002', hint = 'Nothing was changed.';
  end if;
  if exists (select from uptuple.channel where channel.id = dead.channel_id and channel.removed_at is not null) then
    raise exception 'the channel of delivery % was removed', delivery_id
      using errcode = 'UT002', hint = 'Nothing was changed.';
  end if;

  perform uptuple.send_again(array[delivery_id]);
  return (select event.event_id from uptuple.event where event.id = dead.event_number);
end
$function$;

comment on function uptuple.requeue_alert(bigint) is
  'Send a dead, discarded or superseded notice again, with the same event_id and all its attempts. Returns the event_id.';

revoke execute on function uptuple.requeue_alert(bigint) from public;
grant execute on function uptuple.requeue_alert(bigint) to uptuple_operator;
