-- Write a marked test notice for one channel, and no other, into the outbox: what becomes of it shows in delivery_attempts.
--
-- It goes the way of every notice, with attempts, pauses and dead letters. A suspended channel is probed at once. Holds the channel table
-- as write_events does, so that the channel is there and on when the notice is. Writes event, delivery and channel, and wakes the runtimes.
create or replace function uptuple.test_channel(name text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  test_id constant uuid := gen_random_uuid();
  channel uptuple.channel;
  test_number bigint;
  test_delivery bigint;
begin
  lock table uptuple.channel in row share mode;
  channel := uptuple.find_channel(name);
  if not channel.enabled then
    raise exception 'the channel % is disabled', quote_literal(name)
      using errcode = 'UT002', hint = format('select uptuple.enable_channel(%L) switches it on.', name);
  end if;

  insert into uptuple.event (event_id, kind, severity, dedupe_key, occurred_at, data)
  values (
    test_id, 'channel.test', 'info', 'test:' || test_id, at,
    jsonb_build_object(
      'event_id', test_id, 'kind', 'channel.test', 'severity', 'info', 'occurred_at', uptuple.iso_time(at), 'channel', channel.name, 'test', true
    )
  )
  returning event.id into test_number;
  insert into uptuple.delivery (event_number, channel_id, state)
  values (test_number, channel.id, 'READY')
  returning delivery.id into test_delivery;

  update uptuple.channel suspended set probe_at = least(suspended.probe_at, at) where suspended.id = channel.id and suspended.suspended_at is not null;
  notify uptuple_alerts;
  return test_delivery;
end
$function$;

comment on function uptuple.test_channel(text) is
  'Send a marked test notice to one channel. Returns its delivery_id: select * from uptuple.delivery_attempts where delivery_id = ... shows what came of it.';

revoke execute on function uptuple.test_channel(text) from public;
grant execute on function uptuple.test_channel(text) to uptuple_operator;
