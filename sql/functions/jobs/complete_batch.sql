-- Complete a batch or nothing of it: fence, judge and record. complete_jobs calls it and halves the batch if it fails.
--
-- Race, a late owner and its successor: both match by id, and only the one whose token is in the row while its lease runs; the fence
-- stands in the UPDATE and is checked again after a lock wait. Race, two batches with the same jobs in opposed orders: rows are locked by
-- (slot, id) first. The same job twice in one batch is accepted once. Writes job, and through record_results all the rest.
--
-- Joined by primary key from the batch, never through the claim's index: with that join in the plan a batch was quadratic
-- (13,000 cycles a second against 23,400). So the rows are looked up one by one as they are locked, and the UPDATE finds them by ctid,
-- which cannot change under the lock. It does not say that the state is RUNNING, which would make that index fit: a CHECK ties it to the
-- owner_token. Slots and duplicates are looked up only where there are any: 0.2 ms a batch.
-- Tried and left out: no statement of its own for the locks, 5 us of 140 a job. The UPDATE alone does not wait for a row that its snapshot
-- says is not its own, so that an owner whose extension was just being committed was REFUSED.
create or replace function uptuple.complete_batch(completions jsonb)
returns table (job_id bigint, outcome text, became text)
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
  ids bigint[];
  slots bigint[];
  tokens uuid[];
  observations jsonb[];
  row_ids tid[];
  records uptuple.health_record[];
  has_failures boolean;
  accepted bigint[];
  changed_jobs bigint[];
  changed_to text[];
begin
  select array_agg(completion.job_id order by position), array_agg(completion.scheduled_slot order by position),
    array_agg(completion.owner_token order by position), array_agg(completion.observation order by position)
  into ids, slots, tokens, observations
  from (
    select entry.ordinality as position, field.*
    from jsonb_array_elements(completions) with ordinality entry
    cross join lateral jsonb_to_record(entry.value)
      as field (job_id bigint, scheduled_slot bigint, owner_token uuid, observation jsonb)
  ) completion;

  if array_position(slots, null) is not null then
    select array_agg(coalesce(given.slot, job.scheduled_slot) order by given.position) into slots
    from unnest(ids, slots) with ordinality given (job_id, slot, position)
    left join lateral (select job.scheduled_slot from uptuple.job where given.slot is null and job.id = given.job_id) job on true;
  end if;

  select array_agg(locked.row_id order by completion.position) into row_ids
  from (
    select given.*
    from unnest(ids, slots) with ordinality given (job_id, scheduled_slot, position)
    order by given.scheduled_slot, given.job_id
  ) completion
  left join lateral (
    select job.ctid as row_id from uptuple.job
    where job.id = completion.job_id and job.scheduled_slot = completion.scheduled_slot
    for no key update
  ) locked on true;

  with completion as materialized (
    select distinct on (given.scheduled_slot, given.row_id, given.owner_token) given.*
    from unnest(row_ids, slots, tokens, observations) with ordinality given (row_id, scheduled_slot, owner_token, observation, position)
    order by given.scheduled_slot, given.row_id, given.owner_token, given.position
  ),
  done as (
    update uptuple.job
    set state = 'DONE',
        accepted_token = job.owner_token,
        owner_token = null,
        finished_at = clock_timestamp()
    from completion
    where job.ctid = completion.row_id
      and job.scheduled_slot = completion.scheduled_slot
      and job.owner_token = completion.owner_token
      and job.due_at > clock_timestamp()
    returning completion.position, completion.observation,
      job.service_id, job.region, job.scheduled_slot, job.id, job.revision, job.interval_seconds, job.purpose, job.worker
  )
  select array_agg(judged.position),
    array_agg(
      (
        judged.service_id, judged.region, judged.scheduled_slot, judged.id, judged.revision, judged.interval_seconds, judged.purpose,
        (judged.verdict).status, (judged.verdict).code, (judged.verdict).reason,
        uptuple.observed_ms(judged.observation, 'total'),
        uptuple.observed_ms(judged.observation, 'dns'),
        uptuple.observed_ms(judged.observation, 'connect'),
        uptuple.observed_ms(judged.observation, 'tls'),
        uptuple.observed_ms(judged.observation, 'first_byte'),
        case when jsonb_typeof(judged.observation -> 'status') = 'number' then (judged.observation ->> 'status')::numeric::integer end,
        judged.worker,
        uptuple.observed_detail(judged.observation, (judged.verdict).outcomes)
      )::uptuple.health_record
    ),
    bool_or((judged.verdict).status = 'DOWN')
  into accepted, records, has_failures
  from (
    select done.*, uptuple.evaluate_observation(revision.config, done.observation) as verdict
    from done
    cross join lateral (
      select revision.config
      from uptuple.service_revision revision
      where revision.service_id = done.service_id and revision.revision = done.revision
      offset 0
    ) revision
    order by done.scheduled_slot, done.position
  ) judged;

  if has_failures or records is not null and exists (select from uptuple.worker blind where blind.quarantined_at is not null) then
    records := uptuple.doubt_results(records);
  end if;
  if records is not null then
    select array_agg(change.job_id), array_agg(change.became) into changed_jobs, changed_to
    from uptuple.record_results(records) change;
  end if;

  if cardinality(accepted) = cardinality(ids) then
    return query select answer.id, 'ACCEPTED', changed_to[array_position(changed_jobs, answer.id)] from unnest(ids) answer (id);
    return;
  end if;

  return query
  select completion.job_id,
    case
      when completion.position = any (accepted) then 'ACCEPTED'
      when exists (
        select from uptuple.job
        where job.id = completion.job_id and job.scheduled_slot = completion.scheduled_slot and job.accepted_token = completion.owner_token
      ) then 'DUPLICATE'
      else 'REFUSED'
    end,
    case when completion.position = any (accepted) then changed_to[array_position(changed_jobs, completion.job_id)] end
  from unnest(ids, slots, tokens) with ordinality completion (job_id, scheduled_slot, owner_token, position)
  order by completion.position;
end
$function$;

comment on function uptuple.complete_batch(jsonb) is 'Completes a batch wholly or, with an error, not at all. complete_jobs is its caller.';

revoke execute on function uptuple.complete_batch(jsonb) from public;
