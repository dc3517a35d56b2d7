-- Lock everything unsettled in the lanes of some services, or of some deliveries and what they tell as a digest, in the order of ids.
--
-- A lane is what one service sends to one channel. Whoever changes a lane locks it so first: two that change deliveries of one lane
-- without it would each see the other's as it was, and leave a notice waiting for ever; in another order they would deadlock.
-- Reads and locks delivery. Called by advance_lanes, finish_alerts, requeue_alert, discard_alert and their siblings.
create or replace function uptuple.lock_lanes(service_ids bigint[], delivery_ids bigint[] default '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_variable
begin
  perform 1
  from uptuple.delivery
  where delivery.id = any (
      array(
        select unsettled.id
        from uptuple.delivery unsettled
        where unsettled.service_id = any (service_ids)
          and unsettled.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
        union
        select unsettled.id
        from (
          select delivery.service_id, delivery.channel_id from uptuple.delivery where delivery.id = any (delivery_ids)
          union
          select delivery.service_id, delivery.channel_id from uptuple.delivery where delivery.grouped_in = any (delivery_ids)
        ) given
        cross join lateral (
          select lane.id
          from uptuple.delivery lane
          where lane.service_id = given.service_id and lane.channel_id = given.channel_id
            and lane.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
          offset 0
        ) unsettled
        union
        select unnest(delivery_ids)
      )
    )
  order by delivery.id
  for no key update;
end
$function$;

comment on function uptuple.lock_lanes(bigint[], bigint[]) is
  'Locks what is unsettled in the lanes of services or deliveries, in the order of ids.';

revoke execute on function uptuple.lock_lanes(bigint[], bigint[]) from public;
