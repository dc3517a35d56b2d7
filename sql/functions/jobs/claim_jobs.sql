-- Lease up to max_jobs due jobs of a region to a worker, each with a fresh token and for 30 s from now.
--
-- Eligible alike: READY and due, and RUNNING with an ended lease. An attempt counts here, so that a job that kills its worker ends. A
-- window whose successor is due, and a job whose third lease ended, are left to end_jobs and never probed late. What a worker has just seen
-- fail is left to others for ten seconds, half an interval at most; one in quarantine claims what sample_allowance says.
-- Race, two claims at once: SKIP LOCKED gives each its own rows, and rows are locked before they are updated.
-- It looks from the head of the queue on; for what was committed late and lies before that, see find_queue_heads.
-- Called by every runtime; claim no more than there are free slots. Writes job, and worker for one in quarantine.
--
-- The locking select stands in a materialised CTE, in exactly the claim index's order, and the plan is pinned: as a SQL function the
-- unknown limit made the planner sort the whole table, 30 claims a second. JIT is off, since servers before 18 give a plan without a way
-- round a disabled node a cost that sets it off. The UPDATE finds its rows, locked a moment before, by ctid, and what it gives back is looked
-- up row by row (OFFSET 0): a plan that was made while there was nothing would else read a whole index, for every job, and be kept.
create or replace function uptuple.claim_jobs(worker text, max_jobs integer default 1, region text default 'default')
returns table (
  job_id bigint,
  scheduled_slot bigint,
  owner_token uuid,
  service_id bigint,
  service text,
  revision integer,
  purpose text,
  kind text,
  target text,
  config jsonb,
  timeout_ms integer,
  attempt integer,
  lease_ms integer,
  late_ms integer,
  took_over boolean
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  claimer constant text := worker;
  from_region constant text := region;
  lease constant interval := interval '30 s';
  at constant timestamptz := clock_timestamp();
  now_second constant bigint := floor(extract(epoch from at));
  at_most integer := max_jobs;
  due_since constant timestamptz := uptuple.queue_head(region, at);
begin
  perform uptuple.check_name('worker', claimer);
  if (max_jobs between 1 and 1000) is not true then
    raise exception 'max_jobs is %, and must be between 1 and 1000', coalesce(max_jobs::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'Claim no more than there are free slots.';
  end if;

  if exists (select from uptuple.worker blind where blind.name = claimer and blind.quarantined_at is not null) then
    at_most := uptuple.sample_allowance(claimer, from_region, max_jobs);
    if at_most = 0 then
      return;
    end if;
  end if;

  return query
  with candidate as materialized (
    select job.ctid as row_id, job.scheduled_slot, job.due_at, job.state
    from uptuple.job
    where job.region = from_region
      and job.state = any ('{READY,RUNNING}')
      and job.due_at between due_since and at
      and job.scheduled_slot between now_second - 2 * 86400 and now_second + 60
      and job.attempts < 3
      and (job.attempts > 0 or job.purpose <> 'GRID' or job.due_at + make_interval(secs => job.interval_seconds) > at)
      and (job.avoid_worker is null or job.avoid_worker <> claimer or job.due_at + make_interval(secs => least(job.interval_seconds / 2.0, 10)) <= at)
    order by job.region, job.due_at, job.id
    limit at_most
    for no key update skip locked
  ),
  leased as (
    update uptuple.job
    set state = 'RUNNING',
        owner_token = gen_random_uuid(),
        worker = claimer,
        attempts = job.attempts + 1,
        due_at = at + lease
    from candidate
    where job.ctid = candidate.row_id and job.scheduled_slot = candidate.scheduled_slot
    returning job.id, job.scheduled_slot, job.owner_token, job.service_id, job.revision, job.purpose, job.attempts,
      candidate.due_at as was_due_at, candidate.state = 'RUNNING' as took_over
  )
  select leased.id, leased.scheduled_slot, leased.owner_token, leased.service_id, service.name, leased.revision,
    leased.purpose, revision.kind, revision.target, revision.config, revision.timeout_ms, leased.attempts::integer,
    (extract(epoch from lease) * 1000)::integer, (extract(epoch from at - leased.was_due_at) * 1000)::integer, leased.took_over
  from leased
  cross join lateral (
    select revision.kind, revision.target, revision.config, revision.timeout_ms
    from uptuple.service_revision revision
    where revision.service_id = leased.service_id and revision.revision = leased.revision
    offset 0
  ) revision
  cross join lateral (select service.name from uptuple.service where service.id = leased.service_id offset 0) service;
end
$function$;

comment on function uptuple.claim_jobs(text, integer, text) is
  'Lease up to max_jobs due jobs of a region to a worker for 30 seconds. Each row has the token that complete_job, retry_job, '
  'extend_job and release_jobs ask for, the configuration to probe with, late_ms since it was due, and whether it was took_over from a lease that ended.';

revoke execute on function uptuple.claim_jobs(text, integer, text) from public;
grant execute on function uptuple.claim_jobs(text, integer, text) to uptuple_worker, uptuple_operator;
