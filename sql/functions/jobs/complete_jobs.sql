-- Complete a batch of jobs: [{job_id, scheduled_slot, owner_token, observation}, ...]. Answers for each in its order.
--
-- ACCEPTED: result, state, streak, incident and notices were written, in this transaction. DUPLICATE: this token was accepted before, a
-- lost acknowledgement. REFUSED: the lease ended, the token is not the owner's, or the job is not running; nothing was changed. BROKEN:
-- the observation could not be stored, and the job was given to retry_job with the error.
-- No observation can break a batch: one that fails is halved down to the one that is at fault (semantics 1.8, 1.9). What is wrong with
-- the server and not with the data (deadlock, shutdown, no space) is raised, for the caller to call again with the same tokens.
create or replace function uptuple.complete_jobs(completions jsonb)
returns table (job_id bigint, outcome text, became text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  size integer;
  half integer;
  failure text;
  state text;
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

  if size > 1 then
    half := size / 2;
    return query
    select answer.* from uptuple.complete_jobs(jsonb_path_query_array(completions, '$[0 to $last]', jsonb_build_object('last', half - 1))) answer;
    return query
    select answer.* from uptuple.complete_jobs(jsonb_path_query_array(completions, '$[$first to last]', jsonb_build_object('first', half))) answer;
    return;
  end if;

  return query select * from uptuple.break_job(completions -> 0, failure);
end
$function$;

comment on function uptuple.complete_jobs(jsonb) is
  'Complete jobs: [{"job_id", "scheduled_slot", "owner_token", "observation"}, ...]; scheduled_slot may be left out. Answers a row each, '
  'in order: ACCEPTED, DUPLICATE (accepted before), REFUSED (not yours any more; nothing changed) or BROKEN (the observation could not be '
  'stored; the job is retried). became: the status that the service got by this job, if it is another one than before.';

revoke execute on function uptuple.complete_jobs(jsonb) from public;
grant execute on function uptuple.complete_jobs(jsonb) to uptuple_worker, uptuple_operator;
