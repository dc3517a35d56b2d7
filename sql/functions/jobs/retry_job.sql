-- retry_jobs for one job: READY, FAILED or REFUSED.
create or replace function uptuple.retry_job(job_id bigint, owner_token uuid, error text)
returns text
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select answer.outcome
  from uptuple.retry_jobs(jsonb_build_array(jsonb_build_object('job_id', $1, 'owner_token', $2, 'error', $3))) answer;
$function$;

comment on function uptuple.retry_job(bigint, uuid, text) is
  'Give a broken attempt back with its error: READY (tried again after 5, 10 s), FAILED (it was the third) or REFUSED (nothing changed).';

revoke execute on function uptuple.retry_job(bigint, uuid, text) from public;
grant execute on function uptuple.retry_job(bigint, uuid, text) to uptuple_worker, uptuple_operator;
