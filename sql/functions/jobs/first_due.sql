-- When the first job of a region that waits or runs was or is due (READY: may be claimed; RUNNING: its lease ends), of those due since then;
-- null if there is none.
--
-- One look at the head of the claim's index, which is asked for by its order. As an EXISTS with due_at < before, a plan from when there was
-- nothing read all jobs that lie ahead, 206,000 pages for 200,000 of them. Reads job. Called by find_queue_heads and overdue.
create or replace function uptuple.first_due(region text, due_since timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_variable
declare
  now_second constant bigint := floor(extract(epoch from clock_timestamp()));
begin
  return (
    select job.due_at
    from uptuple.job
    where job.region = region
      and job.state = any ('{READY,RUNNING}')
      and job.due_at >= due_since
      and job.scheduled_slot between now_second - 2 * 86400 and now_second + 60
    order by job.region, job.due_at, job.id
    limit 1
  );
end
$function$;

comment on function uptuple.first_due(text, timestamptz) is
  'When the first job of a region that waits or runs was or is due, of those due since then; null if there is none.';

revoke execute on function uptuple.first_due(text, timestamptz) from public;
