-- Answer for a completion that cannot be stored: its job is retried with the error, and ends FAILED after the last attempt.
--
-- A completion whose id or token cannot even be read belongs to no job and is REFUSED. Called by complete_jobs. Writes job.
create or replace function uptuple.break_job(completion jsonb, failure text)
returns table (job_id bigint, outcome text, became text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  id bigint;
  token uuid;
begin
  begin
    id := (completion ->> 'job_id')::bigint;
    token := (completion ->> 'owner_token')::uuid;
  exception when data_exception then
    return query select id, 'REFUSED', null::text;
    return;
  end;

  if uptuple.retry_job(id, token, 'the observation could not be stored: ' || failure) = 'REFUSED' then
    return query select id, 'REFUSED', null::text;
  else
    return query select id, 'BROKEN', null::text;
  end if;
end
$function$;

comment on function uptuple.break_job(jsonb, text) is 'Retries the job of a completion that cannot be stored, and answers BROKEN or REFUSED.';

revoke execute on function uptuple.break_job(jsonb, text) from public;
