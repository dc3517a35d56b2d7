-- extend_jobs for one job: the new end of the lease, or null if the call was refused and changed nothing.
create or replace function uptuple.extend_job(job_id bigint, owner_token uuid)
returns timestamptz
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select answer.lease_until
  from uptuple.extend_jobs(jsonb_build_array(jsonb_build_object('job_id', $1, 'owner_token', $2))) answer;
$function$;

comment on function uptuple.extend_job(bigint, uuid) is
  'Extend a lease to 30 seconds from now. Returns its new end, or null if the lease or the token is no longer good.';

revoke execute on function uptuple.extend_job(bigint, uuid) from public;
grant execute on function uptuple.extend_job(bigint, uuid) to uptuple_worker, uptuple_operator;
