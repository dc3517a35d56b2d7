-- Cancel jobs by hand: all of a service that wait or run, or the given ones. Returns how many.
--
-- Who owns a running one gets REFUSED when it answers. A cancelled window is a gap: never up, never down. Locks rows by (slot, id).
-- Called by people, and by remove_service. Writes job. What waits or runs is what has not finished: a condition on the state let the planner
-- walk the claim's index, that is everything that waits.
create or replace function uptuple.cancel_jobs(
  service text default null,
  job_ids bigint[] default null,
  reason text default null,
  running boolean default true
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $function$
#variable_conflict use_variable
declare
  wanted_service bigint;
  now_second constant bigint := extract(epoch from clock_timestamp());
  cancelled integer;
begin
  if service is null and job_ids is null then
    raise exception 'cancel_jobs was given neither a service nor job_ids'
      using errcode = 'invalid_parameter_value', hint = 'For example select uptuple.cancel_jobs(service => ''inventory'').';
  end if;
  if service is not null then
    wanted_service := (uptuple.find_service(service)).id;
  end if;

  with wanted as materialized (
    select job.id, job.scheduled_slot
    from uptuple.job
    where job.service_id = wanted_service
      and job.scheduled_slot between now_second - 2 * 86400 and now_second + 2 * 86400
      and job.finished_at is null
      and (job_ids is null or job.id = any (job_ids))
    union all
    select job.id, job.scheduled_slot
    from uptuple.job
    where wanted_service is null and job.id = any (job_ids) and job.finished_at is null
  ),
  locked as materialized (
    select job.id, job.scheduled_slot
    from wanted
    join uptuple.job on job.id = wanted.id and job.scheduled_slot = wanted.scheduled_slot
    order by job.scheduled_slot, job.id
    for no key update of job
  )
  update uptuple.job
  set state = 'CANCELED',
      owner_token = null,
      finished_at = clock_timestamp(),
      error = coalesce(uptuple.printable(reason, 500), 'cancelled by ' || session_user)
  from locked
  where job.id = locked.id
    and job.scheduled_slot = locked.scheduled_slot
    and job.finished_at is null
    and (running or job.owner_token is null);

  get diagnostics cancelled = row_count;
  return cancelled;
end
$function$;

comment on function uptuple.cancel_jobs(text, bigint[], text, boolean) is
  'Cancel the waiting and running jobs of a service, or the given job_ids. Returns how many. running => false leaves running ones alone.';

revoke execute on function uptuple.cancel_jobs(text, bigint[], text, boolean) from public;
grant execute on function uptuple.cancel_jobs(text, bigint[], text, boolean) to uptuple_operator;
