-- The lanes of some services in which anything is unsettled, and those of some deliveries and of what they tell as a digest.
--
-- Each is looked up by its key: by a list of keys, a table that was thought to be empty was read whole. Reads delivery. Called by lock_lanes,
-- and by advance_lanes once more, with a fresh snapshot.
create or replace function uptuple.touched_lanes(service_ids bigint[], delivery_ids bigint[])
returns table (service_id bigint, channel_id bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_column
begin
  return query
  select unsettled.service_id, unsettled.channel_id
  from unnest(service_ids) given (id)
  cross join lateral (
    select delivery.service_id, delivery.channel_id
    from uptuple.delivery
    where delivery.service_id = given.id and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
    offset 0
  ) unsettled
  union
  select named.service_id, named.channel_id
  from unnest(delivery_ids) given (id)
  cross join lateral (
    select delivery.service_id, delivery.channel_id from uptuple.delivery where delivery.id = given.id offset 0
  ) named
  union
  select grouped.service_id, grouped.channel_id
  from unnest(delivery_ids) given (id)
  cross join lateral (
    select delivery.service_id, delivery.channel_id from uptuple.delivery where delivery.grouped_in = given.id offset 0
  ) grouped;
end
$function$;

comment on function uptuple.touched_lanes(bigint[], bigint[]) is
  'The lanes (service, channel) that a change of services or deliveries touches.';

revoke execute on function uptuple.touched_lanes(bigint[], bigint[]) from public;
