-- complete_jobs for one job: true if its result is stored, now (ACCEPTED) or before (DUPLICATE). A worker that gets false no longer owns
-- the job: its lease or token was no longer good (REFUSED), or the observation could not be stored (BROKEN).
create or replace function uptuple.complete_job(job_id bigint, owner_token uuid, observation jsonb)
returns boolean
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select answer.outcome in ('ACCEPTED', 'DUPLICATE')
  from uptuple.complete_jobs(jsonb_build_array(jsonb_build_object('job_id', $1, 'owner_token', $2, 'observation', $3))) answer;
$function$;

comment on function uptuple.complete_job(bigint, uuid, jsonb) is
  'Complete a job with what was observed, such as ''{"status": 200, "timings": {"total": 12.5}}'' or '
  '''{"error": {"code": "connect.refused", "message": "..."}}''. True if the result is stored, now or by an earlier call with this token. '
  'False if the lease or the token is no longer good, and then nothing changed; or if the observation could not be stored, and then the job '
  'is tried again.';

revoke execute on function uptuple.complete_job(bigint, uuid, jsonb) from public;
grant execute on function uptuple.complete_job(bigint, uuid, jsonb) to uptuple_worker, uptuple_operator;
