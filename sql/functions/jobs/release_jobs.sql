-- Give back jobs that were claimed and not started: READY at once, and the attempt is given back. Returns how many.
--
-- For a runtime that stops, or that claimed more than it can start in time. Fenced: entries whose token is no longer good are left alone.
-- It is due since its slot again, so that a job that was first in line is first again, and a window that nobody has started when the next
-- one is due is MISSED as if it had never been claimed. Locks rows by (slot, id). Writes job and region.
-- The UPDATE does not say that the state is RUNNING, to which a CHECK ties the token: with it the planner took the claim's index.
create or replace function uptuple.release_jobs(job_ids bigint[], owner_tokens uuid[])
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
declare
  queue record;
  released integer := 0;
begin
  if cardinality(job_ids) is distinct from cardinality(owner_tokens) then
    raise exception 'job_ids has % entries and owner_tokens has %', coalesce(cardinality(job_ids), 0), coalesce(cardinality(owner_tokens), 0)
      using errcode = 'invalid_parameter_value', hint = 'Give one token for each job.';
  end if;

  for queue in
    with locked as materialized (
      select job.id, job.scheduled_slot, given.owner_token
      from unnest(job_ids, owner_tokens) given (job_id, owner_token)
      join uptuple.job on job.id = given.job_id
      order by job.scheduled_slot, job.id
      for no key update of job
    ),
    given_back as (
      update uptuple.job
      set state = 'READY',
          owner_token = null,
          worker = null,
          attempts = job.attempts - 1,
          due_at = to_timestamp(job.scheduled_slot)
      from locked
      where job.id = locked.id
        and job.scheduled_slot = locked.scheduled_slot
        and job.owner_token = locked.owner_token
        and job.due_at > clock_timestamp()
      returning job.region, job.due_at
    )
    select given_back.region, min(given_back.due_at) as due_at, count(*)::integer as jobs
    from given_back
    group by given_back.region
    order by given_back.region
  loop
    released := released + queue.jobs;
    perform uptuple.lower_queue_head(queue.region, queue.due_at);
  end loop;

  if released > 0 then
    notify uptuple_jobs;
  end if;
  return released;
end
$function$;

comment on function uptuple.release_jobs(bigint[], uuid[]) is
  'Give back jobs that were claimed and not started: READY at once, the attempt is not counted. Returns how many were given back.';

revoke execute on function uptuple.release_jobs(bigint[], uuid[]) from public;
grant execute on function uptuple.release_jobs(bigint[], uuid[]) to uptuple_worker, uptuple_operator;
