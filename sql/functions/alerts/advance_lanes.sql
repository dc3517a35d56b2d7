-- Set right who may go in the lanes of some services or deliveries: the oldest live notice of a lane is READY, later ones are WAITING,
-- and what a dead notice holds back is HELD.
--
-- Held: behind a dead one of the same incident (or, without one, behind the dead one that it follows), or in a strict channel behind any
-- dead one; what is held does not hold others, unless it is being sent. What a digest tells shares its fate: it waits while that one is
-- live, counts as dead with it, and is delivered or discarded with it. Called last by whoever wrote to a lane, so that claims never look at
-- blocked rows. Locks the lanes first, then judges with a fresh snapshot.
-- Race, two channels answer for one service: each advances the lane of its own delivery. By service, each would hold its lane and wait
-- for the other's. Writes delivery; wakes the runtimes if a notice became ready.
--
-- Lanes are read through OFFSET 0, one index lookup each: joined freely, with fresh statistics, all that waits anywhere was read for one.
-- What moves is found by a list of one, which rules out a plan that goes through all of the table in the order of its key: made while it was
-- thought to be empty, one read 72 million rows for one notice among 6,000.
create or replace function uptuple.advance_lanes(service_ids bigint[], delivery_ids bigint[] default '{}')
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_variable
declare
  became_ready integer;
begin
  perform uptuple.lock_lanes(service_ids, delivery_ids);

  if delivery_ids <> '{}' then
    update uptuple.delivery
    set state = digest.state, finished_at = digest.finished_at, note = digest.note
    from uptuple.delivery digest
    where digest.id = any (delivery_ids) and digest.state in ('DELIVERED', 'DISCARDED')
      and delivery.grouped_in = digest.id and delivery.state in ('WAITING', 'HELD');
  end if;

  with touched as materialized (select * from uptuple.touched_lanes(service_ids, delivery_ids)),
  lane as (
    select unsettled.id, unsettled.event_number, touched.service_id, touched.channel_id, unsettled.state, unsettled.fate,
      count(*) filter (where unsettled.fate = 'DEAD') over (
        partition by touched.service_id, touched.channel_id, channel.ordering = 'incident' and unsettled.incident_id is null,
          case when channel.ordering = 'strict' then 0 else unsettled.matter end
        order by unsettled.event_number
        rows between unbounded preceding and 1 preceding
      ) > 0 as held
    from touched
    join uptuple.channel on channel.id = touched.channel_id
    cross join lateral (
      select delivery.id, delivery.event_number, delivery.incident_id, delivery.state,
        coalesce(delivery.incident_id, delivery.follows, delivery.event_number) as matter,
        case digest.state when 'DEAD' then 'DEAD' when 'READY' then 'GROUPED' when 'SENDING' then 'GROUPED' else delivery.state end as fate
      from uptuple.delivery
      left join lateral (select told.state from uptuple.delivery told where told.id = delivery.grouped_in offset 0) digest on true
      where delivery.service_id = touched.service_id and delivery.channel_id = touched.channel_id
        and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
      offset 0
    ) unsettled
  ),
  placed as (
    select lane.id, lane.state,
      case
        when lane.held or lane.fate = 'DEAD' then 'HELD'
        when lane.fate = 'GROUPED' then 'WAITING'
        when count(*) filter (where lane.state = 'SENDING' or lane.fate <> 'DEAD' and not lane.held) over (
          partition by lane.service_id, lane.channel_id
          order by lane.event_number
          rows between unbounded preceding and 1 preceding
        ) > 0 then 'WAITING'
        else 'READY'
      end as right_state
    from lane
  ),
  moved as (
    update uptuple.delivery
    set state = placed.right_state,
        due_at = case when placed.right_state = 'READY' then greatest(delivery.due_at, clock_timestamp()) else delivery.due_at end
    from placed
    where delivery.id = any (array[placed.id])
      and placed.state in ('READY', 'WAITING', 'HELD')
      and placed.state <> placed.right_state
    returning delivery.state
  )
  select count(*) into became_ready from moved where moved.state = 'READY';

  if became_ready > 0 then
    notify uptuple_alerts;
  end if;
  return became_ready;
end
$function$;

comment on function uptuple.advance_lanes(bigint[], bigint[]) is
  'Makes the oldest live notice of each lane of some services or deliveries READY, and the others WAITING or HELD. Returns how many became READY.';

revoke execute on function uptuple.advance_lanes(bigint[], bigint[]) from public;
