-- How long until the next job of a region may be claimed, in ms: 0 if one is due, null if none is known. For a runtime that sleeps.
--
-- By the database's clock, so that a runtime's wrong one does no harm. One look at the head of the claim's index, past what claim_jobs
-- leaves to end_jobs, to another worker for now, or to the colleagues of one in quarantine, which would keep a runtime awake for nothing.
-- Reads job and worker.
create or replace function uptuple.next_job_due(region text default 'default', worker text default null)
returns double precision
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  now_second constant bigint := extract(epoch from at);
  head constant timestamptz := uptuple.queue_head(region, at);
  next_due timestamptz;
begin
  if exists (select from uptuple.worker blind where blind.name = worker and blind.quarantined_at is not null)
    and uptuple.has_colleague(worker, region)
  then
    return null;
  end if;

  select job.due_at into next_due
  from uptuple.job
  where job.region = region
    and job.state = any ('{READY,RUNNING}')
    and job.due_at >= head
    and job.scheduled_slot between now_second - 2 * 86400 and now_second + 60
    and job.attempts < 3
    and (job.attempts > 0 or job.purpose <> 'GRID' or job.due_at + make_interval(secs => job.interval_seconds) > at)
    and (
      worker is null or job.avoid_worker is null or job.avoid_worker <> worker
      or job.due_at + make_interval(secs => least(job.interval_seconds / 2.0, 10)) <= at
    )
  order by job.region, job.due_at, job.id
  limit 1;

  -- GREATEST alone would make 0 of null: due at once, when nothing is there.
  return case when next_due is not null then greatest(0, extract(epoch from next_due - at) * 1000) end;
end
$function$;

comment on function uptuple.next_job_due(text, text) is
  'Milliseconds until the next job of a region may be claimed, by a worker if one is given, 0 if one is due; null if none is known.';

revoke execute on function uptuple.next_job_due(text, text) from public;
grant execute on function uptuple.next_job_due(text, text) to uptuple_worker, uptuple_operator;
