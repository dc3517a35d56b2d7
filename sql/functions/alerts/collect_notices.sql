-- Of FAILEDs and RECOVEREDs that have just been written for channels that group: which go at once, and which wait a few seconds for a digest.
--
-- The first two of a kind and moment go at once, so that a single failure is never late. Those that wait become due 3 s after their moment
-- ends: then tell_digests, which comes once a second, has grouped them, and if nobody calls it they go by themselves. Two that write at
-- once do not see each other's and may send a few more at once. The moment of what waits for the end of maintenance is that end. The
-- caller has written the deliveries and advances their lanes after. Called by write_events and tell_open_incidents. Writes delivery.
--
-- What was told before is counted once for each channel, kind and moment, the newest first: counted for each notice, every failure soon
-- after 2,000 recoveries read all of those.
create or replace function uptuple.collect_notices(delivery_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  at_once constant integer := 2;
  grace constant interval := interval '3 seconds';
begin
  with fresh as materialized (
    select written.id, written.channel_id, event.kind, start.since,
      start.since + make_interval(secs => uptuple.grouping_seconds(channel)) as until
    from unnest(delivery_ids) given (id)
    cross join lateral (
      select delivery.id, delivery.channel_id, delivery.event_number, delivery.held_until
      from uptuple.delivery
      where delivery.id = given.id
      offset 0
    ) written
    cross join lateral (select event.kind from uptuple.event where event.id = written.event_number offset 0) event
    join uptuple.channel on channel.id = written.channel_id and uptuple.grouping_seconds(channel) > 0
    cross join lateral (select coalesce(written.held_until, at) as since) start
    where event.kind in ('service.failed', 'service.recovered')
  ),
  moment as materialized (
    select each.*, earlier.count, coalesce(earlier.collect_until, each.until) as collect_until
    from (select distinct fresh.channel_id, fresh.kind, fresh.since, fresh.until from fresh) each
    cross join lateral (
      select count(*) as count, max(known.collect_until) as collect_until
      from (
        select other.collect_until
        from uptuple.delivery other
        cross join lateral (select event.kind from uptuple.event where event.id = other.event_number offset 0) told
        where other.channel_id = each.channel_id and other.collect_until > each.since and other.collect_until <= each.until
          and told.kind = each.kind
        order by other.collect_until desc
        limit at_once
      ) known
    ) earlier
  )
  update uptuple.delivery
  set collect_until = placed.collect_until,
      due_at = case when placed.position > at_once then placed.collect_until + grace else delivery.due_at end
  from (
    select fresh.id, moment.collect_until,
      row_number() over (partition by fresh.channel_id, fresh.kind order by fresh.id) + moment.count as position
    from fresh
    join moment
      on moment.channel_id = fresh.channel_id and moment.kind = fresh.kind and moment.since = fresh.since and moment.until = fresh.until
  ) placed
  where delivery.id = any (array[placed.id]);
end
$function$;

comment on function uptuple.collect_notices(bigint[]) is
  'Lets failures and recoveries wait for a digest if two others of their kind were told within the last seconds.';

revoke execute on function uptuple.collect_notices(bigint[]) from public;
