-- Give up dead notices, with a reason: of a channel, of a cause as dead_letter_causes counts them, or all. Returns how many, at most 1000 a call.
--
-- As discard_alert: what they held back goes on. Locks their lanes in the order of ids. Writes delivery, through give_up.
create or replace function uptuple.discard_alerts(reason text, channel text default null, cause text default null)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  ids bigint[];
begin
  if nullif(btrim(reason), '') is null then
    raise exception 'reason is missing'
      using errcode = 'invalid_parameter_value', hint = 'Say why nobody needs these notices any more.';
  end if;
  lock table uptuple.channel in row exclusive mode;
  ids := uptuple.dead_alerts(channel, cause);
  perform uptuple.lock_lanes('{}', ids);
  -- Somebody may have seen to some of them before the lanes were locked.
  ids := array(select delivery.id from uptuple.delivery where delivery.id = any (ids) and delivery.state = 'DEAD');
  if ids <> '{}' then
    perform uptuple.give_up(ids, reason);
  end if;
  return cardinality(ids);
end
$function$;

comment on function uptuple.discard_alerts(text, text, text) is
  'Give up dead notices, with a reason: of a channel, of a cause as uptuple.dead_letter_causes counts them, or all. Returns how many, at most 1000 a call.';

revoke execute on function uptuple.discard_alerts(text, text, text) from public;
grant execute on function uptuple.discard_alerts(text, text, text) to uptuple_operator;
