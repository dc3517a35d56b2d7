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
  from (
    select unsettled.id
    from uptuple.touched_lanes(service_ids, delivery_ids) touched
    cross join lateral (
      select lane.id
      from uptuple.delivery lane
      where lane.service_id = touched.service_id and lane.channel_id = touched.channel_id
        and lane.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
      offset 0
    ) unsettled
    union
    select unnest(delivery_ids)
    order by id
  ) found
  cross join lateral (
    select from uptuple.delivery where delivery.id = found.id for no key update
  ) locked;
end
$function$;

comment on function uptuple.lock_lanes(bigint[], bigint[]) is
  'Locks what is unsettled in the lanes of services or deliveries, in the order of ids.';

revoke execute on function uptuple.lock_lanes(bigint[], bigint[]) from public;
