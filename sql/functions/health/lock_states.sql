-- Lock the states of records in (service, region) order, and answer where they are, in the order of the records; null where there is none.
--
-- A row found so is found again by ctid, without its index: that cannot change under the lock, except by the holder's own UPDATE. Called by
-- record_results, for each round of its records anew.
create or replace function uptuple.lock_states(records uptuple.health_record[])
returns tid[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
declare
  state_rows tid[];
begin
  select array_agg(locked.row_id order by touched.position) into state_rows
  from (
    select given.service_id, given.region, given.ordinality as position
    from unnest(records) with ordinality given
    order by given.service_id, given.region
  ) touched
  left join lateral (
    select state.ctid as row_id
    from uptuple.service_state state
    where state.service_id = touched.service_id and state.region = touched.region
    for no key update
  ) locked on true;
  return state_rows;
end
$function$;

comment on function uptuple.lock_states(uptuple.health_record[]) is
  'Locks the states that records belong to, in one order for everybody, and answers their ctids in the order of the records.';

revoke execute on function uptuple.lock_states(uptuple.health_record[]) from public;
