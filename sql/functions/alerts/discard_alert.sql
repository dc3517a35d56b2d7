-- Give up a notice that is unsent, with a reason. What it held back goes on.
--
-- One that was sent, or is being sent right now, is refused (UT002); one whose sender is gone, its lease ended, is not. Locks the lane.
-- Writes delivery, through give_up.
create or replace function uptuple.discard_alert(delivery_id bigint, reason text)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  unsent uptuple.delivery;
begin
  if nullif(btrim(reason), '') is null then
    raise exception 'reason is missing'
      using errcode = 'invalid_parameter_value', hint = 'Say why nobody needs this notice any more.';
  end if;
  lock table uptuple.channel in row exclusive mode;
  perform uptuple.lock_lanes('{}', array[delivery_id]);
  select delivery.* into unsent from uptuple.delivery where delivery.id = delivery_id;
  if not found then
    raise exception 'there is no delivery %', coalesce(delivery_id::text, 'null')
      using errcode = 'UT001', hint = 'select delivery_id from uptuple.deliveries_backlog lists the unsent ones.';
  end if;
  if unsent.state not in ('READY', 'WAITING', 'HELD', 'DEAD', 'SENDING')
    or unsent.state = 'SENDING' and unsent.due_at > clock_timestamp() then
    raise exception 'delivery % is %, and only one that is unsent can be discarded', delivery_id, unsent.state
      using errcode = 'UT002', hint = 'Nothing was changed.';
  end if;

  perform uptuple.give_up(array[delivery_id], reason);
  return (select event.event_id from uptuple.event where event.id = unsent.event_number);
end
$function$;

comment on function uptuple.discard_alert(bigint, text) is
  'Give up an unsent notice, with a reason; what it held back goes on. Returns its event_id.';

revoke execute on function uptuple.discard_alert(bigint, text) from public;
grant execute on function uptuple.discard_alert(bigint, text) to uptuple_operator;
