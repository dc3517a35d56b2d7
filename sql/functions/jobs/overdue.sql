-- Has any job, of any region, waited to be claimed for longer than that (READY, or RUNNING with an ended lease)? One look at the head of
-- the claim's index for each region in use: the head is asked for by its order. As an EXISTS with due_at < before, a plan from when there
-- was nothing read all jobs that lie ahead, 206,000 pages for 200,000 of them.
--
-- Reads region and job. Called by unwell, by which the runtime vouches for the monitor with its heartbeat.
create or replace function uptuple.overdue(longer_than interval)
returns boolean
language plpgsql
stable
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
declare
  before constant timestamptz := clock_timestamp() - longer_than;
  now_second constant bigint := extract(epoch from clock_timestamp());
begin
  return exists (
    select from uptuple.region
    cross join lateral (
      select job.due_at
      from uptuple.job
      where job.region = region.name
        and job.state = any ('{READY,RUNNING}')
        and job.scheduled_slot between now_second - 2 * 86400 and now_second + 60
      order by job.region, job.due_at, job.id
      limit 1
    ) head
    where head.due_at < before
  );
end
$function$;

comment on function uptuple.overdue(interval) is 'True if any job has been due, and claimed by nobody, for longer than that.';

revoke execute on function uptuple.overdue(interval) from public;
grant execute on function uptuple.overdue(interval) to uptuple_worker, uptuple_operator, uptuple_viewer;
