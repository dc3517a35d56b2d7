-- See to it that the next check of failing services goes to another runtime than the one that saw them fail, if it has a trusted colleague.
--
-- The next job that waits already is marked; where none does, second_look tells enqueue_jobs to mark the next window. claim_jobs honours a
-- mark for ten seconds at most, so that a colleague that has just died costs no check. Jobs that somebody holds are skipped: he may wait for
-- a state that the caller holds. Called by enqueue_confirmations, whose order of service_ids and workers is one. Writes job and second_look.
create or replace function uptuple.ask_others(service_ids bigint[], workers text[])
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
  now_second constant bigint := floor(extract(epoch from at));
begin
  with failing as materialized (
    select distinct on (given.service_id) given.service_id, state.region, given.worker, service.interval_seconds
    from unnest(service_ids, workers) with ordinality given (service_id, worker, position)
    cross join lateral (
      select service.id, service.regions, service.interval_seconds, service.enabled from uptuple.service where service.id = given.service_id offset 0
    ) service
    cross join unnest(service.regions) region_name
    cross join lateral (
      select state.region, state.failure_streak, state.incident_id
      from uptuple.service_state state
      where state.service_id = service.id and state.region = region_name
      offset 0
    ) state
    where given.worker is not null and service.enabled and state.failure_streak > 0 and state.incident_id is null
    order by given.service_id, given.position desc
  ),
  -- Asked once for each runtime and not for each service: a thousand fail together.
  relieved as materialized (
    select distinct_pair.worker, distinct_pair.region
    from (select distinct failing.worker, failing.region from failing offset 0) distinct_pair
    where uptuple.has_colleague(distinct_pair.worker, distinct_pair.region)
  ),
  asked as materialized (
    select failing.* from failing
    where exists (select from relieved where relieved.worker = failing.worker and relieved.region = failing.region)
  ),
  waiting as materialized (
    select asked.service_id, asked.worker, job.row_id, job.scheduled_slot
    from asked
    cross join lateral (
      select job.ctid as row_id, job.scheduled_slot
      from uptuple.job
      where job.service_id = asked.service_id
        and job.region = asked.region
        and job.scheduled_slot between now_second - asked.interval_seconds and now_second + 86400
        -- READY, said so that the claim's index does not fit.
        and job.owner_token is null
        and job.finished_at is null
      order by job.scheduled_slot
      limit 1
      for no key update skip locked
    ) job
  ),
  marked as (
    update uptuple.job
    set avoid_worker = waiting.worker
    from waiting
    where job.ctid = waiting.row_id and job.scheduled_slot = waiting.scheduled_slot
  )
  insert into uptuple.second_look as known (service_id, region, worker, noted_at)
  select asked.service_id, asked.region, asked.worker, at
  from asked
  where not exists (select from waiting where waiting.service_id = asked.service_id)
  order by asked.service_id
  on conflict on constraint second_look_pkey do update set worker = excluded.worker, noted_at = excluded.noted_at;
end
$function$;

comment on function uptuple.ask_others(bigint[], text[]) is
  'Lets the trusted colleagues of the runtimes that saw services fail go first at the next check of each.';

revoke execute on function uptuple.ask_others(bigint[], text[]) from public;
