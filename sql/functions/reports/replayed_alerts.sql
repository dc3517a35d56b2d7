-- The alerts that stored results would have raised under other thresholds, statuses or assertions: the state machine once more.
--
-- Written on its own, by the rules and not by the code of apply_results, so that a test can hold the one against the other. Results are
-- taken in the order in which they were recorded, from a day before since, so that a streak is whole. One that had a verdict and was not
-- applied was late or came for a disabled service, and is not applied here either. An incident that was open before then is taken as open.
-- Disabling starts it all anew, as far as a grid that had begun tells of it. A failure in maintenance ends a streak. Not replayed: whom a
-- failing service waits for (a second runtime, what it depends on) and what damping keeps quiet.
-- Reads result, job, incident, service, service_active. Called by what_if.
create or replace function uptuple.replayed_alerts(watched uptuple.service, region text, changes jsonb, since timestamptz, until timestamptz)
returns table (kind text, occurred_at timestamptz, applied_order bigint, streak integer, code text, reason text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $function$
#variable_conflict use_variable
declare
  failure_threshold constant integer := coalesce((changes ->> 'failure_threshold')::integer, watched.failure_threshold);
  recovery_threshold constant integer := coalesce((changes ->> 'recovery_threshold')::integer, watched.recovery_threshold);
  warm_up constant timestamptz := since - interval '1 day';
  step record;
  verdict uptuple.verdict;
  happened_at timestamptz;
  is_up boolean;
  after_gap boolean;
  is_down boolean;
  failures integer := 0;
  successes integer := 0;
  last_slot bigint;
  last_at timestamptz;
begin
  is_down := exists (
    select from uptuple.incident
    where incident.service_id = watched.id and incident.region = region
      and incident.opened_at < warm_up and (incident.closed_at is null or incident.closed_at >= warm_up)
  );

  for step in
    select result.recorded_at as at, result, revision.config,
      coalesce(job.interval_seconds, active.interval_seconds, watched.interval_seconds) as interval_seconds, null::text as withdrawn
    from uptuple.result
    left join uptuple.service_revision revision on revision.service_id = result.service_id and revision.revision = result.revision
    left join uptuple.job on job.id = result.job_id and job.scheduled_slot = result.scheduled_slot
    left join lateral (
      select grid.interval_seconds
      from uptuple.service_active grid
      where grid.service_id = watched.id and grid.region = region and grid.during @> result.recorded_at
      limit 1
    ) active on true
    where result.service_id = watched.id and result.region = region
      and result.scheduled_slot >= extract(epoch from warm_up) - 86400 and result.recorded_at >= warm_up and result.recorded_at < until
    union all
    select incident.closed_at, null, null, 0, coalesce((
        select event.data ->> 'reason' from uptuple.event where event.incident_id = incident.id and event.kind = 'service.recovered'
      ), 'withdrawn')
    from uptuple.incident
    where incident.service_id = watched.id and incident.region = region and incident.closed_by = 'withdrawn'
      and incident.closed_at >= warm_up and incident.closed_at < until
    union all
    -- Disabled while no incident was open in fact. Where the next grid has another interval, only that was changed.
    select upper(grid.during), null, null, 0, 'the service was disabled'
    from (
      select active.during, active.interval_seconds,
        lead(active.interval_seconds) over next_grid as next_interval,
        lead(upper(active.during)) over next_grid as next_end
      from uptuple.service_active active
      where active.service_id = watched.id and active.region = region
      window next_grid as (order by lower(active.during))
    ) grid
    where upper(grid.during) >= warm_up and upper(grid.during) < until
      and coalesce(grid.next_interval, grid.interval_seconds) = grid.interval_seconds
      and not exists (
        select from uptuple.incident
        where incident.service_id = watched.id and incident.region = region and incident.closed_by = 'withdrawn'
          and incident.closed_at between upper(grid.during) and upper(grid.during) + interval '1 minute'
          and (grid.next_end is null or incident.closed_at < grid.next_end)
      )
    order by 1
  loop
    if step.withdrawn is not null then
      if is_down then
        return query select 'service.recovered', step.at, null::bigint, 0, 'withdrawn', step.withdrawn where step.at >= since;
      end if;
      is_down := false;
      failures := 0;
      successes := 0;
      continue;
    end if;

    verdict := uptuple.replayed_verdict(step.result, step.config, changes);
    is_up := verdict.status in ('UP', 'DEGRADED');
    continue when verdict.status = 'INCONCLUSIVE' or not is_up and (step.result).purpose = 'REQUEST';
    -- Late, or for a service that was disabled: its own verdict would have applied otherwise.
    continue when (step.result).applied_order is null and (step.result).status <> 'INCONCLUSIVE'
      and not ((step.result).purpose = 'REQUEST' and (step.result).status = 'DOWN');
    continue when (step.result).applied_order is null and (step.result).purpose <> 'MANUAL' and (step.result).scheduled_slot <= last_slot;

    happened_at := case (step.result).purpose when 'MANUAL' then step.at else to_timestamp((step.result).scheduled_slot) end;
    after_gap := coalesce(happened_at - last_at > make_interval(secs => 3 * step.interval_seconds), false);
    failures := case
      when is_up or not is_down and uptuple.in_maintenance(watched.id, happened_at) then 0
      when after_gap then 1
      else least(failures + 1, failure_threshold)
    end;
    successes := case when not is_up then 0 when after_gap then 1 else least(successes + 1, recovery_threshold) end;
    last_at := happened_at;
    if (step.result).purpose <> 'MANUAL' then
      last_slot := (step.result).scheduled_slot;
    end if;

    if not is_up and not is_down and failures >= failure_threshold then
      is_down := true;
      return query select 'service.failed', step.at, (step.result).applied_order, failures, verdict.code, verdict.reason where step.at >= since;
    elsif is_up and is_down and successes >= recovery_threshold then
      is_down := false;
      return query select 'service.recovered', step.at, (step.result).applied_order, successes, verdict.code, verdict.reason where step.at >= since;
    end if;
  end loop;
end
$function$;

comment on function uptuple.replayed_alerts(uptuple.service, text, jsonb, timestamptz, timestamptz) is
  'The alerts that stored results would have raised under other thresholds, statuses or assertions.';

revoke execute on function uptuple.replayed_alerts(uptuple.service, text, jsonb, timestamptz, timestamptz) from public;
