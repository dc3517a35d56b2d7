-- End the jobs that may no longer be claimed: MISSED where nobody claimed a window before the next one of its service was due, FAILED
-- where the lease of the last attempt ended.
--
-- Skips rows that others hold: who holds one decides. Looks at the oldest 20,000 of what is due and no further, so that it stays short
-- after an outage: when it looked at all, each second, a server with too much to do got round to 3,100 checks a second, its producer
-- walking a million jobs that could still be claimed. A failing service whose check FAILED gets its next confirmation. Called by enqueue_jobs when
-- anything is overdue, and by sweep. Writes job.
create or replace function uptuple.end_jobs(due_since timestamptz default '-infinity')
returns integer
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
declare
  at constant timestamptz := clock_timestamp();
  now_second constant bigint := floor(extract(epoch from at));
  region_name text;
  oldest_until timestamptz;
  ended_here integer;
  unanswered bigint[];
  unanswered_by text[];
  ended integer := 0;
begin
  for region_name in select name from uptuple.region order by name loop
    select max(oldest.due_at) into oldest_until
    from (
      select job.due_at
      from uptuple.job
      where job.region = region_name
        and job.state = any ('{READY,RUNNING}')
        and job.due_at >= due_since
        and job.due_at <= at
        and job.scheduled_slot between now_second - 2 * 86400 and now_second + 60
      order by job.region, job.due_at, job.id
      limit 20000
    ) oldest;
    continue when oldest_until is null;

    with over as materialized (
      select job.ctid as row_id, job.scheduled_slot
      from uptuple.job
      where job.region = region_name
        and job.state = any ('{READY,RUNNING}')
        and job.due_at >= due_since
        and job.due_at <= oldest_until
        and job.scheduled_slot between now_second - 2 * 86400 and now_second + 60
        and (
          job.attempts >= 3
          or job.attempts = 0 and job.purpose = 'GRID' and job.due_at + make_interval(secs => job.interval_seconds) <= at
        )
      order by job.region, job.due_at, job.id
      limit 20000
      for no key update skip locked
    ),
    done as (
      update uptuple.job
      set state = case when job.attempts = 0 then 'MISSED' else 'FAILED' end,
          owner_token = null,
          finished_at = at,
          error = coalesce(job.error, case when job.attempts > 0 then 'the last lease ended without an answer' end)
      from over
      where job.ctid = over.row_id and job.scheduled_slot = over.scheduled_slot
      returning job.service_id, job.state, job.worker
    )
    select count(*), array_agg(done.service_id) filter (where done.state = 'FAILED'),
      array_agg(done.worker) filter (where done.state = 'FAILED')
    into ended_here, unanswered, unanswered_by
    from done;

    ended := ended + ended_here;
    if unanswered is not null then
      perform uptuple.enqueue_confirmations(unanswered, unanswered_by);
    end if;
  end loop;
  return ended;
end
$function$;

comment on function uptuple.end_jobs(timestamptz) is
  'Ends jobs that may no longer be claimed: MISSED if never claimed in time, FAILED after the last lease. Of those due since then. Returns how many.';

revoke execute on function uptuple.end_jobs(timestamptz) from public;
grant execute on function uptuple.end_jobs(timestamptz) to uptuple_worker, uptuple_operator;
