-- Tell of services that stopped having verdicts, and of those that have them again; more than five at a time in one notice.
--
-- Looks every 30 s at all states, by whichever runtime comes first. Silent: no verdict for three intervals and at least two minutes, in which
-- somebody has looked all the time; so after an outage of all runtimes nothing is told. Locks states in order and skips what others
-- hold. Called by tell_due. Writes silence_watch and, through its helpers, service_state, event and delivery. Returns how many notices.
create or replace function uptuple.tell_silence()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  patience constant interval := interval '2 minutes';
  watched_since timestamptz;
  silent bigint[];
  back bigint[];
begin
  update uptuple.silence_watch
  set looked_at = at,
      watching_since = case when silence_watch.looked_at between at - patience and at then silence_watch.watching_since else at end
  where silence_watch.only_row = (
    select watch.only_row
    from uptuple.silence_watch watch
    where watch.looked_at not between at - interval '30 seconds' and at
    for no key update skip locked
  )
  returning silence_watch.watching_since into watched_since;
  if not found then
    return 0;
  end if;

  with changed as materialized (
    select state.service_id, state.region, state.unknown_event is null as is_silent
    from uptuple.service_state state
    join uptuple.service on service.id = state.service_id
    cross join lateral (
      select service.enabled
        and greatest(coalesce(state.verdict_at, state.since), watched_since, service.updated_at)
          < at - greatest(patience, make_interval(secs => 3 * service.interval_seconds)) as is_silent
    ) now
    where now.is_silent = (state.unknown_event is null)
      and (now.is_silent or not service.enabled or state.verdict_at > at - greatest(patience, make_interval(secs => 3 * service.interval_seconds)))
      and not (now.is_silent and uptuple.in_maintenance(state.service_id, at))
    order by state.service_id, state.region
    limit 10000
  ),
  locked as materialized (
    select changed.service_id, changed.is_silent
    from changed
    cross join lateral (
      select
      from uptuple.service_state state
      where state.service_id = changed.service_id and state.region = changed.region and (state.unknown_event is null) = changed.is_silent
      for no key update skip locked
    ) own
  )
  select
    coalesce(array_agg(locked.service_id order by locked.service_id) filter (where locked.is_silent), '{}'),
    coalesce(array_agg(locked.service_id order by locked.service_id) filter (where not locked.is_silent), '{}')
  into silent, back
  from locked;

  perform uptuple.lock_outbox(silent || back);
  return uptuple.tell_unknown(silent) + uptuple.tell_known(back);
end
$function$;

comment on function uptuple.tell_silence() is
  'Tells of services that have no verdicts any more, and of those that have them again. Returns how many notices it wrote.';

revoke execute on function uptuple.tell_silence() from public;
