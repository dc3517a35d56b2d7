-- Tell the other channels of one whose notices are dead: one event deliveries.dead a channel, and at most one an hour. Returns how many.
--
-- Dead notices about dead notices tell nobody, so two broken channels do not keep each other busy; the channel itself has its delivery listed
-- as SUPERSEDED. Without another channel that is on and gets such notices it is told later, when there is one. The newest dead ones are read
-- in the order of their index: a plan by channel walked 200,000 that waited. Race, two sweeps: the rows of channels are locked, and skipped
-- where another holds them, so nobody waits for anybody. Called by sweep. Writes event, delivery and channel.
create or replace function uptuple.tell_dead_deliveries()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  broken uptuple.channel;
  dead record;
  key text;
  told integer := 0;
  most constant integer := 10000;
begin
  lock table uptuple.channel in row share mode;
  for broken in
    with dead as materialized (
      select delivery.channel_id, delivery.finished_at, delivery.event_number
      from uptuple.delivery
      where delivery.state = 'DEAD'
      order by delivery.finished_at desc
      limit most
    ),
    newest as (
      select dead.channel_id, max(dead.finished_at) as finished_at
      from dead
      join uptuple.event on event.id = dead.event_number and event.kind <> 'deliveries.dead'
      group by dead.channel_id
    )
    select channel.*
    from newest
    join uptuple.channel on channel.id = newest.channel_id
    where channel.removed_at is null
      and coalesce(channel.dead_told_at <= at - interval '1 hour' and channel.dead_told_at < newest.finished_at, true)
      and exists (
        select from uptuple.channel other
        where other.enabled and other.id <> channel.id
          and uptuple.is_routed(other.id, 'deliveries.dead', 'warning', null, null, null)
      )
    order by channel.id
    for no key update of channel skip locked
  loop
    with dead as materialized (
      select delivery.channel_id, coalesce(delivery.last_cause, 'HTTP ' || delivery.last_status, 'no answer') as cause
      from uptuple.delivery
      where delivery.state = 'DEAD'
      order by delivery.finished_at desc
      limit most
    )
    select sum(counted.deliveries) as deliveries,
      string_agg(counted.cause || ' (' || counted.deliveries || ')', ', ' order by counted.deliveries desc, counted.cause) as causes
    into dead
    from (
      select dead.cause, count(*) as deliveries
      from dead
      where dead.channel_id = broken.id
      group by dead.cause
    ) counted;

    key := format('deliveries.dead:%s:%s', broken.id, uptuple.iso_time(at));
    perform uptuple.write_events(array[(
      'deliveries.dead', 'warning', null, null, null, key, at, null,
      jsonb_build_object(
        'channel', broken.name,
        'dead', dead.deliveries,
        'reason', format('%s to the channel %s could not be delivered: %s.',
          case dead.deliveries when 1 then '1 notice' else dead.deliveries || ' notices' end, broken.name, dead.causes),
        'lines', jsonb_build_array('See uptuple.dead_deliveries; send them again with requeue_alerts, or give them up with discard_alerts.')
      )
    )::uptuple.notice]);
    update uptuple.delivery
    set state = 'SUPERSEDED', finished_at = at, note = 'it is about this channel'
    where delivery.event_number = (select event.id from uptuple.event where event.dedupe_key = key) and delivery.channel_id = broken.id;
    update uptuple.channel set dead_told_at = at where channel.id = broken.id;
    told := told + 1;
  end loop;
  return told;
end
$function$;

comment on function uptuple.tell_dead_deliveries() is
  'Tells the other channels of one whose notices are dead, at most once an hour for each. Returns how many were told of.';

revoke execute on function uptuple.tell_dead_deliveries() from public;
