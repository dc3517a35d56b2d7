-- Look into the last verdicts of services: whether one is degraded, restored, or flaps without ever being down for long enough.
--
-- Degraded: as many DEGRADED in a row as the failure threshold says (at most 20), with no incident open; it never opens one. What is degraded
-- only in its maintenance is not told. Restored: as many UP in a row as the recovery threshold says. Flapping: half of the last 20 are DOWN,
-- and no incident is open. A service that flaps is told of as neither degraded nor restored until it is stable. The caller holds the locks of
-- the states. Called by apply_results for the few states that may have changed so. Writes service_state, event and delivery.
create or replace function uptuple.note_verdicts(service_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  notices uptuple.notice[];
  flapping_ids bigint[];
  flapping_regions text[];
begin
  with looked as materialized (
    select state.*,
      state.recent & ((1::bigint << 2 * least(state.failure_threshold, 20)) - 1)
        = ((1::bigint << 2 * least(state.failure_threshold, 20)) - 1) / 3 * 2 as is_degraded,
      state.recent & ((1::bigint << 2 * least(state.recovery_threshold, 20)) - 1)
        = ((1::bigint << 2 * least(state.recovery_threshold, 20)) - 1) / 3 as is_restored,
      bit_count((state.recent & (state.recent >> 1) & 366503875925)::bit(64)) >= 10 as is_flapping
    from uptuple.service_state state
    where state.service_id = any (service_ids) and state.incident_id is null and state.flapping_id is null
  ),
  noted as (
    update uptuple.service_state state
    set degraded_order = case when looked.degraded_order is null then looked.applied_count end
    from looked
    where state.service_id = looked.service_id and state.region = looked.region
      and case
        when looked.degraded_order is not null then looked.is_restored
        when looked.is_degraded then not uptuple.in_maintenance(looked.service_id, at)
      end
    returning looked.*
  )
  select
    (
      select array_agg(
        (
          case when noted.degraded_order is null then 'service.degraded' else 'service.restored' end,
          case when noted.degraded_order is null then 'warning' else 'info' end,
          noted.service_id, noted.region, null,
          format(
            'service:%s:%s:%s:%s', noted.service_id, noted.region,
            case when noted.degraded_order is null then 'service.degraded' else 'service.restored' end,
            coalesce(noted.degraded_order, noted.applied_count)
          ),
          at, noted.applied_count,
          jsonb_build_object('code', noted.checked_code, 'reason', noted.checked_reason)
        )::uptuple.notice
        order by noted.service_id, noted.region
      )
      from noted
    ),
    array_agg(looked.service_id order by looked.service_id) filter (where looked.is_flapping and looked.damping),
    array_agg(looked.region order by looked.service_id) filter (where looked.is_flapping and looked.damping)
  into notices, flapping_ids, flapping_regions
  from looked;

  if notices is not null then
    perform uptuple.write_events(notices);
  end if;
  if flapping_ids is not null then
    perform uptuple.open_flapping(
      flapping_ids, flapping_regions,
      array_fill('half of its last 20 checks failed, and never as many in a row as its threshold'::text, array[cardinality(flapping_ids)])
    );
  end if;
end
$function$;

comment on function uptuple.note_verdicts(bigint[]) is
  'Tells of services that are degraded, restored or flapping by their last 20 verdicts. The caller has locked their states.';

revoke execute on function uptuple.note_verdicts(bigint[]) from public;
