-- Extend leases to 30 s from now: [{job_id, scheduled_slot, owner_token}, ...]. Fenced: an ended lease cannot be extended.
--
-- Answers the new end of each lease, or null where the call was refused and changed nothing. Locks rows by (slot, id). Writes job.
-- The UPDATE does not say that the state is RUNNING, to which a CHECK ties the token: with it the planner took the claim's index.
create or replace function uptuple.extend_jobs(extensions jsonb)
returns table (job_id bigint, lease_until timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_column
begin
  return query
  with given as materialized (
    select entry.ordinality as position, field.job_id, field.owner_token,
      coalesce(field.scheduled_slot, (select job.scheduled_slot from uptuple.job where job.id = field.job_id)) as scheduled_slot
    from jsonb_array_elements(extensions) with ordinality entry
    cross join lateral jsonb_to_record(entry.value) as field (job_id bigint, scheduled_slot bigint, owner_token uuid)
  ),
  locked as materialized (
    select job.id, job.scheduled_slot, given.owner_token
    from given
    join uptuple.job on job.id = given.job_id and job.scheduled_slot = given.scheduled_slot
    order by job.scheduled_slot, job.id
    for no key update of job
  ),
  extended as (
    update uptuple.job
    set due_at = clock_timestamp() + interval '30 s'
    from locked
    where job.id = locked.id
      and job.scheduled_slot = locked.scheduled_slot
      and job.owner_token = locked.owner_token
      and job.due_at > clock_timestamp()
    returning job.id, job.owner_token, job.due_at
  )
  select given.job_id, extended.due_at
  from given
  left join extended on extended.id = given.job_id and extended.owner_token = given.owner_token
  order by given.position;
end
$function$;

comment on function uptuple.extend_jobs(jsonb) is
  'Extend leases to 30 seconds from now: [{"job_id", "scheduled_slot", "owner_token"}, ...]. Answers the new end of each, null where refused.';

revoke execute on function uptuple.extend_jobs(jsonb) from public;
grant execute on function uptuple.extend_jobs(jsonb) to uptuple_worker, uptuple_operator;
