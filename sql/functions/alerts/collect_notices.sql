-- Of FAILEDs and RECOVEREDs that have just been written for channels that group: which go at once, and which wait a few seconds for a digest.
--
-- The first two of a kind and moment go at once, so that a single failure is never late. Those that wait become due 3 s after their moment
-- ends: then tell_digests, which comes once a second, has grouped them, and if nobody calls it they go by themselves. Two that write at
-- once do not see each other's and may send a few more at once. The moment of what waits for the end of maintenance is that end. The caller has written the deliveries and advances their lanes after.
-- Called by write_events. Writes delivery.
create or replace function uptuple.collect_notices(delivery_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  at_once constant integer := 2;
  grace constant interval := interval '3 seconds';
begin
  update uptuple.delivery
  set collect_until = placed.collect_until,
      due_at = case when placed.position > at_once then placed.collect_until + grace else delivery.due_at end
  from (
    select fresh.id,
      row_number() over (partition by fresh.channel_id, event.kind order by fresh.id) + earlier.count as position,
      coalesce(earlier.collect_until, moment.until) as collect_until
    from uptuple.delivery fresh
    join uptuple.event on event.id = fresh.event_number
    join uptuple.channel on channel.id = fresh.channel_id
    cross join lateral (
      select start.at, start.at + make_interval(secs => uptuple.grouping_seconds(channel)) as until
      from (select coalesce(fresh.held_until, at) as at) start
    ) moment
    cross join lateral (
      select count(*) as count, max(known.collect_until) as collect_until
      from (
        select other.collect_until
        from uptuple.delivery other
        join uptuple.event told on told.id = other.event_number
        where other.channel_id = fresh.channel_id and other.collect_until > moment.at and other.collect_until <= moment.until
          and told.kind = event.kind
        limit at_once
      ) known
    ) earlier
    where fresh.id = any (delivery_ids) and uptuple.grouping_seconds(channel) > 0
  ) placed
  where delivery.id = placed.id;
end
$function$;

comment on function uptuple.collect_notices(bigint[]) is
  'Lets failures and recoveries wait for a digest if two others of their kind were told within the last seconds.';

revoke execute on function uptuple.collect_notices(bigint[]) from public;
