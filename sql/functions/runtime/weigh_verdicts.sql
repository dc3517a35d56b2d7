-- Hold what a quarantined runtime saw against what others see, and trust it again when it agreed often enough in a row.
--
-- Only an UP shows that it can see: it counts where the state is UP by a verdict of others, given since the quarantine began. A DOWN there
-- starts the count anew. Where the canary was the cause, any UP counts, since then not all its probes fail, and any DOWN starts anew.
-- The caller, doubt_results, holds the lock of the worker's row. Reads service_state; writes worker, and through restore_trust event.
create or replace function uptuple.weigh_verdicts(blind uptuple.worker, records uptuple.health_record[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  agreed integer;
  erred boolean;
  reached integer;
begin
  select count(*) filter (where seen.is_up), coalesce(bool_or(not seen.is_up), false) into agreed, erred
  from (
    select given.status <> 'DOWN' as is_up
    from unnest(records) given
    cross join lateral (
      select state.failure_streak = 0
          and state.status in ('UP', 'DEGRADED')
          and state.verdict_at > greatest(
            blind.quarantined_at,
            clock_timestamp() - greatest(interval '2 minutes', make_interval(secs => 3 * given.interval_seconds))
          ) as is_up
      from uptuple.service_state state
      where state.service_id = given.service_id and state.region = given.region
      offset 0
    ) others
    where given.worker = blind.name
      and given.status <> 'INCONCLUSIVE'
      and (blind.quarantine_cause = 'canary' or others.is_up)
  ) seen;

  update uptuple.worker
  set agreements = case when erred then 0 else worker.agreements + agreed end
  where worker.name = blind.name
  returning worker.agreements into reached;
  if reached >= 3 * uptuple.agreements_needed(blind.quarantines) then
    perform uptuple.restore_trust(blind.name, 'its verdicts agree again');
  end if;
end
$function$;

comment on function uptuple.weigh_verdicts(uptuple.worker, uptuple.health_record[]) is
  'Counts how often in a row a quarantined runtime saw what others see, and ends its quarantine when that is often enough.';

revoke execute on function uptuple.weigh_verdicts(uptuple.worker, uptuple.health_record[]) from public;
