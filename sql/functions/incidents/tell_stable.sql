-- Find which flapping services have become stable, up or down, and tell so.
--
-- Stable: the last ten verdicts agree, and no incident has opened or closed for ten minutes. Looks at each every ten seconds, under the
-- lock of its state; what others hold is skipped. An incident that is open then is announced by tell_due, which is the caller. Writes flapping, service_state,
-- incident, event and delivery. Returns how many it told of.
create or replace function uptuple.tell_stable()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
declare
  at constant timestamptz := clock_timestamp();
  calm constant interval := interval '10 minutes';
  ten_verdicts constant bigint := (1 << 20) - 1;
  due bigint[];
  stable bigint[];
begin
  if not exists (select from uptuple.flapping where flapping.closed_at is null and flapping.look_at <= at) then
    return 0;
  end if;
  due := array(
    select flapping.id
    from uptuple.service_state state
    join uptuple.flapping on flapping.id = state.flapping_id
    where flapping.closed_at is null and flapping.look_at <= at
    order by state.service_id, state.region
    limit 500
    for no key update of state skip locked
  );
  -- Of two bits, both are set in a DOWN and one in any other verdict.
  stable := array(
    select flapping.id
    from uptuple.flapping
    join uptuple.service_state state on state.flapping_id = flapping.id and state.service_id = flapping.service_id
    where flapping.id = any (due)
      and (
        state.recent & ten_verdicts = ten_verdicts
        or state.recent & (state.recent >> 1) & (ten_verdicts / 3) = 0
          and (state.recent | (state.recent >> 1)) & (ten_verdicts / 3) = ten_verdicts / 3
      )
      and not exists (
        select from uptuple.incident
        where incident.service_id = flapping.service_id and incident.region = flapping.region
          and greatest(incident.opened_at, incident.closed_at) > at - calm
      )
    order by flapping.service_id, flapping.region
  );
  update uptuple.flapping set look_at = at + interval '10 seconds' where flapping.id = any (due);
  perform uptuple.close_flapping(stable, 'ten checks in a row agree');
  return cardinality(stable);
end
$function$;

comment on function uptuple.tell_stable() is 'Tells which flapping services have become stable. Returns how many.';

revoke execute on function uptuple.tell_stable() from public;
