-- Apply at most one result to each (service, region): store it, move the state, open or close the incident, write the notices.
--
-- The caller, record_results, holds the locks of the states, and gives their ctids in the order of the records. The rules:
-- * A result applies if its service is enabled, it has a verdict, it is not a DOWN by request, and its window is newer than the state's
--   last one. A last slot more than two intervals ahead (a clock was set back) yields. A record by hand has no window and always applies.
-- * A streak starts anew if the result is more than three intervals after the last applied one.
-- * The DOWN that makes the failure streak reach its threshold opens an incident; the UP that makes the success streak reach its own
--   closes it. Until then the status stays what it was.
-- * A DOWN whose window lies in maintenance opens nothing: it ends the failure streak, so that one that goes on after the end is told once the
--   threshold is met by windows that started after it. An incident that is open already goes on and may close. Only such a DOWN looks
--   for maintenance, first of all whether there is any.
-- * If only one runtime said DOWN so far, and it has a trusted colleague, the incident waits for the next DOWN, whoever says it. An UP
--   instead, by another one, contradicts it. A DOWN by hand waits for nobody, nor does a heartbeat's.
-- * What the last 20 verdicts may say beside, that it is degraded, restored or flapping, note_verdicts looks into.
-- Writes result, service_state, incident; through write_notices and note_verdicts event and delivery; through enqueue_confirmations job
-- and second_look; through note_contradictions worker_contradiction.
--
-- Steps that build on one another are subqueries, kept apart by OFFSET 0: as four materialised CTEs of wide rows they took 2 us a result
-- more, and incidents as parts of the same statement 1 us, for results that open or close none. States are read and written row by row, by
-- ctid, so that no plan reads all of them and no index is looked into again. The rules of the service are read there too, where note_rules keeps
-- them: who disables a service holds the state's lock, as the caller does.
create or replace function uptuple.apply_results(records uptuple.health_record[], state_rows tid[])
returns table (job_id bigint, became text)
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
  now_second constant bigint := floor(extract(epoch from at));
  transitions uptuple.transition[];
  unconfirmed bigint[];
  unconfirmed_by text[];
  contradicted text[];
  contradicted_by text[];
  contradicted_on bigint[];
  remarkable bigint[];
  changed_jobs bigint[];
  changed_to text[];
begin
  with moved as materialized (
    select decided.*,
      case when opens then nextval(pg_get_serial_sequence('uptuple.incident', 'id')) when closes then null else incident_id end as new_incident_id,
      case
        when opens then 'DOWN'
        when closes or applies and is_up and incident_id is null then status
        else old_status
      end as new_status
    from (
      select counted.*,
        case
          when applies and not is_up and incident_id is null and new_failures >= failure_threshold then
            purpose in ('MANUAL', 'HEARTBEAT') or cardinality(new_failing_workers) > 1 or not after_gap and failure_streak >= failure_threshold
            or not uptuple.has_colleague(worker, region)
          else false
        end as opens,
        applies and is_up and incident_id is not null and new_successes >= recovery_threshold as closes,
        case
          when not applies or is_excused then recent
          -- 20 verdicts of two bits.
          else ((case when after_gap then 0 else recent end << 2) | case status when 'UP' then 1 when 'DEGRADED' then 2 else 3 end) & 1099511627775
        end as new_recent
      from (
        select judged.*,
          is_newest and has_verdict and (is_up or purpose <> 'REQUEST') as applies,
          case when is_up or is_excused then 0 when after_gap then 1 else least(failure_streak + 1, failure_threshold) end as new_failures,
          case when not is_up then 0 when after_gap then 1 else least(success_streak + 1, recovery_threshold) end as new_successes,
          case when is_up or is_excused then null when after_gap or failure_streak = 0 then happened_at else streak_started_at end as began_at,
          case
            when is_up or is_excused then null
            when after_gap or failure_streak = 0 then array[worker]
            when worker = any (failing_workers) or cardinality(failing_workers) > 1 then failing_workers
            else failing_workers || worker
          end as new_failing_workers
        from (
          select current.*,
            enabled and (is_manual or last_slot is null or scheduled_slot > last_slot or last_slot > now_second + 2 * interval_seconds)
              as is_newest,
            coalesce(happened_at - last_at > make_interval(secs => 3 * interval_seconds), false) as after_gap,
            case
              when has_verdict and not is_up and incident_id is null and exists (
                select from uptuple.maintenance_occurrence occurrence where occurrence.cancelled_at is null and occurrence.during @> happened_at
              ) then uptuple.in_maintenance(service_id, happened_at)
              else false
            end as is_excused
          from (
            select given.*,
              given.status in ('UP', 'DEGRADED') as is_up,
              given.status <> 'INCONCLUSIVE' as has_verdict,
              given.purpose = 'MANUAL' as is_manual,
              case when given.purpose = 'MANUAL' then at else to_timestamp(given.scheduled_slot) end as happened_at,
              state.*
            from unnest(records) with ordinality given
            cross join lateral (
              select state.ctid as state_row_id, state.status as old_status, state.failure_streak, state.success_streak,
                state.streak_started_at, state.last_slot, state.last_at, state.applied_count, state.incident_id,
                state.failing_workers, state.recent, state.degraded_order, state.flapping_id,
                state.enabled, state.failure_threshold, state.recovery_threshold, state.damping
              from uptuple.service_state state
              where state.ctid = state_rows[given.ordinality]
              offset 0
            ) state
            offset 0
          ) current
          offset 0
        ) judged
        offset 0
      ) counted
      offset 0
    ) decided
  ),
  stored as (
    insert into uptuple.result (
      scheduled_slot, service_id, job_id, applied_order, recorded_at, revision, latency_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
      http_status, region, purpose, status, code, reason, worker, detail
    )
    select scheduled_slot, service_id, job_id, case when applies then applied_count + 1 end, at, revision, latency_ms, dns_ms, connect_ms,
      tls_ms, first_byte_ms, http_status, region, purpose, status, code, reason, worker, detail
    from moved
  ),
  updated as (
    update uptuple.service_state state
    set status = moved.new_status,
        since = case when moved.new_status <> moved.old_status then at else state.since end,
        failure_streak = case when moved.applies then moved.new_failures else state.failure_streak end,
        success_streak = case when moved.applies then moved.new_successes else state.success_streak end,
        failing_workers = case when moved.applies then moved.new_failing_workers else state.failing_workers end,
        streak_started_at = case when moved.applies then moved.began_at else state.streak_started_at end,
        last_slot = case when moved.applies and not moved.is_manual then moved.scheduled_slot else state.last_slot end,
        last_at = case when moved.applies then moved.happened_at else state.last_at end,
        applied_count = state.applied_count + moved.applies::integer,
        incident_id = moved.new_incident_id,
        recent = moved.new_recent,
        verdict_at = case when moved.has_verdict then at else state.verdict_at end,
        checked_at = at,
        checked_status = moved.status,
        checked_code = moved.code,
        checked_reason = moved.reason,
        checked_latency_ms = moved.latency_ms
    from moved
    where moved.is_newest and state.ctid = moved.state_row_id
  )
  select
    array_agg(
      (
        case when opens then 'service.failed' else 'service.recovered' end,
        service_id, region, coalesce(new_incident_id, incident_id), at, applied_count + 1, code, reason
      )::uptuple.transition
      order by service_id, region
    ) filter (where opens or closes),
    array_agg(service_id order by service_id) filter (where is_unconfirmed),
    array_agg(worker order by service_id) filter (where is_unconfirmed),
    array_agg(failing_workers[1]) filter (where is_contradiction),
    array_agg(worker) filter (where is_contradiction),
    array_agg(service_id) filter (where is_contradiction),
    array_agg(service_id order by service_id) filter (where is_remarkable),
    array_agg(notable.job_id) filter (where new_status <> old_status),
    array_agg(new_status) filter (where new_status <> old_status)
  into transitions, unconfirmed, unconfirmed_by, contradicted, contradicted_by, contradicted_on, remarkable, changed_jobs, changed_to
  from (
    select moved.*, new_incident_id is null and (applies and not is_up and not is_excused or is_newest and not has_verdict and failure_streak > 0)
        as is_unconfirmed,
      applies and is_up and not is_manual and failure_streak > 0 and not after_gap and incident_id is null
        and cardinality(failing_workers) = 1 and failing_workers[1] <> worker as is_contradiction,
      applies and case status
        when 'UP' then degraded_order is not null
        when 'DEGRADED' then degraded_order is null
        -- Half of 20 verdicts are DOWN: both bits are set.
        else damping and new_incident_id is null and flapping_id is null
          and bit_count((new_recent & (new_recent >> 1) & 366503875925)::bit(64)) >= 10
      end as is_remarkable
    from moved
  ) notable
  where opens or closes or is_unconfirmed or is_contradiction or is_remarkable or new_status <> old_status;

  if transitions is not null or remarkable is not null then
    perform uptuple.lock_outbox(array(select change.service_id from unnest(transitions) change) || remarkable);
  end if;
  if transitions is not null then
    insert into uptuple.incident (id, service_id, region, started_at, opened_at, opened_order, code, reason)
    overriding system value
    select change.incident_id, change.service_id, change.region, state.streak_started_at, at, change.applied_order, change.code, change.reason
    from unnest(transitions) change
    cross join lateral (
      select state.streak_started_at
      from uptuple.service_state state
      where state.service_id = change.service_id and state.region = change.region
      offset 0
    ) state
    where change.kind = 'service.failed';

    update uptuple.incident
    set closed_at = at, closed_by = 'recovered'
    from unnest(transitions) change
    where change.kind = 'service.recovered' and incident.id = any (array[change.incident_id]);

    perform uptuple.write_notices(transitions);
  end if;
  if remarkable is not null then
    perform uptuple.note_verdicts(remarkable);
  end if;
  if unconfirmed is not null then
    perform uptuple.enqueue_confirmations(unconfirmed, unconfirmed_by);
  end if;
  if contradicted is not null then
    perform uptuple.note_contradictions(contradicted, contradicted_by, contradicted_on);
  end if;
  return query select * from unnest(changed_jobs, changed_to);
end
$function$;

comment on function uptuple.apply_results(uptuple.health_record[], tid[]) is
  'Applies at most one result to each (service, region) whose states the caller has locked and found at state_rows. Answers the jobs '
  'that changed a status.';

revoke execute on function uptuple.apply_results(uptuple.health_record[], tid[]) from public;
