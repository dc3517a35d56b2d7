-- Give broken attempts back: [{job_id, scheduled_slot, owner_token, error}, ...]. The runtime failed, stalled or was stopped, not the target.
--
-- READY again after least(60, 5 * 2^(attempts-1)) s, or FAILED after three attempts. Fenced as complete_jobs is; a refused
-- entry changes nothing. A failing service whose check FAILED gets its next confirmation. Locks rows by (slot, id). Writes job.
-- The UPDATE does not say that the state is RUNNING, to which a CHECK ties the token: with it the planner took the claim's index.
create or replace function uptuple.retry_jobs(retries jsonb)
returns table (job_id bigint, outcome text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_column
declare
  answer record;
  unanswered bigint[];
  unanswered_by text[];
begin
  for answer in
    with given as materialized (
      select entry.ordinality as position, field.job_id, field.owner_token, uptuple.printable(field.error, 500) as error,
        coalesce(field.scheduled_slot, (select job.scheduled_slot from uptuple.job where job.id = field.job_id)) as scheduled_slot
      from jsonb_array_elements(retries) with ordinality entry
      cross join lateral jsonb_to_record(entry.value) as field (job_id bigint, scheduled_slot bigint, owner_token uuid, error text)
    ),
    locked as materialized (
      select job.id, job.scheduled_slot, given.owner_token, given.error
      from given
      join uptuple.job on job.id = given.job_id and job.scheduled_slot = given.scheduled_slot
      order by job.scheduled_slot, job.id
      for no key update of job
    ),
    moved as (
      update uptuple.job
      set state = case when job.attempts >= 3 then 'FAILED' else 'READY' end,
          owner_token = null,
          error = locked.error,
          due_at = case
            when job.attempts >= 3 then job.due_at
            else clock_timestamp() + make_interval(secs => least(60, 5 * 2 ^ (job.attempts - 1)))
          end,
          finished_at = case when job.attempts >= 3 then clock_timestamp() end
      from locked
      where job.id = locked.id
        and job.scheduled_slot = locked.scheduled_slot
        and job.owner_token = locked.owner_token
        and job.due_at > clock_timestamp()
      returning job.id, locked.owner_token, job.state, job.service_id, job.worker
    )
    select given.job_id, coalesce(moved.state, 'REFUSED') as outcome, moved.service_id, moved.worker
    from given
    left join moved on moved.id = given.job_id and moved.owner_token = given.owner_token
    order by given.position
  loop
    job_id := answer.job_id;
    outcome := answer.outcome;
    return next;
    if outcome = 'FAILED' then
      unanswered := unanswered || answer.service_id;
      unanswered_by := unanswered_by || answer.worker;
    end if;
  end loop;

  if unanswered is not null then
    perform uptuple.enqueue_confirmations(unanswered, unanswered_by);
  end if;
end
$function$;

comment on function uptuple.retry_jobs(jsonb) is
  'Give broken attempts back: [{"job_id", "scheduled_slot", "owner_token", "error"}, ...]. Answers READY (tried again after 5, 10 s), FAILED '
  '(it was the third) or REFUSED (not yours any more) for each.';

revoke execute on function uptuple.retry_jobs(jsonb) from public;
grant execute on function uptuple.retry_jobs(jsonb) to uptuple_worker, uptuple_operator;
