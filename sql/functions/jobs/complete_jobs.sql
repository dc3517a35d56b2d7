-- Complete a batch of jobs: [{job_id, scheduled_slot, owner_token, observation}, ...]. Answers for each in its order.
--
-- ACCEPTED: result, state, streak, incident and notices were written, in this transaction. DUPLICATE: this token was accepted before, a
-- lost acknowledgement. REFUSED: the lease ended, the token is not the owner's, or the job is not running; nothing was changed. BROKEN:
-- the observation could not be stored, and the job was given to retry_job with the error.
-- No observation can break a batch: one that fails is halved down to the one that is at fault, in slot order, so that the windows of a
-- service are still applied one after another. What is wrong with the server and not with the data (deadlock,
-- shutdown, no space) is raised, for the caller to call again with the same tokens.
create or replace function uptuple.complete_jobs(completions jsonb)
returns table (job_id bigint, outcome text, became text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  size integer;
  failure text;
  state text;
  in_slot_order jsonb;
  positions bigint[];
  half jsonb;
  ids bigint[];
  outcomes text[];
  changes text[];
begin
  if (jsonb_typeof(completions) = 'array') is not true then
    raise exception 'completions must be a JSON array'
      using errcode = 'invalid_parameter_value', hint = 'Give [{"job_id": 1, "owner_token": "...", "observation": {...}}, ...].';
  end if;
  size := jsonb_array_length(completions);

  begin
    return query select * from uptuple.complete_batch(completions);
    return;
  exception when others then
    get stacked diagnostics state = returned_sqlstate, failure = message_text;
    if left(state, 2) in ('08', '40', '53', '55', '57', '58', 'XX') then
      raise;
    end if;
  end;

  if size = 1 then
    return query select * from uptuple.break_job(completions -> 0, failure);
    return;
  end if;

  select jsonb_agg(entry.value order by entry.slot, entry.id, entry.position), array_agg(entry.position order by entry.slot, entry.id, entry.position)
  into in_slot_order, positions
  from (
    select given.value, given.position, named.id, coalesce(named.slot, (select job.scheduled_slot from uptuple.job where job.id = named.id)) as slot
    from jsonb_array_elements(completions) with ordinality given (value, position)
    cross join lateral (
      select substring(given.value ->> 'job_id' from '^[0-9]{1,18}$')::bigint as id,
        substring(given.value ->> 'scheduled_slot' from '^[0-9]{1,18}$')::bigint as slot
    ) named
  ) entry;

  foreach half in array array[
    jsonb_path_query_array(in_slot_order, '$[0 to $end]', jsonb_build_object('end', size / 2 - 1)),
    jsonb_path_query_array(in_slot_order, '$[$start to last]', jsonb_build_object('start', size / 2))
  ] loop
    select ids || array_agg(answer.job_id order by answer.turn), outcomes || array_agg(answer.outcome order by answer.turn),
      changes || array_agg(answer.became order by answer.turn)
    into ids, outcomes, changes
    from uptuple.complete_jobs(half) with ordinality answer (job_id, outcome, became, turn);
  end loop;

  return query
  select ids[ordered.turn], outcomes[ordered.turn], changes[ordered.turn]
  from unnest(positions) with ordinality ordered (position, turn)
  order by ordered.position;
end
$function$;

comment on function uptuple.complete_jobs(jsonb) is
  'Complete jobs: [{"job_id", "scheduled_slot", "owner_token", "observation"}, ...]; scheduled_slot may be left out. Answers a row each, '
  'in order: ACCEPTED, DUPLICATE (accepted before), REFUSED (not yours any more; nothing changed) or BROKEN (the observation could not be '
  'stored; the job is retried). became: the status that the service got by this job, if it is another one than before.';

revoke execute on function uptuple.complete_jobs(jsonb) from public;
grant execute on function uptuple.complete_jobs(jsonb) to uptuple_worker, uptuple_operator;
