-- claim_jobs for one job: a row, or none if nothing is due. For psql and for runtimes with one free slot.
create or replace function uptuple.claim_job(worker text, region text default 'default')
returns table (
  job_id bigint,
  scheduled_slot bigint,
  owner_token uuid,
  service_id bigint,
  service text,
  revision integer,
  purpose text,
  kind text,
  target text,
  config jsonb,
  timeout_ms integer,
  attempt integer,
  lease_ms integer,
  late_ms integer,
  took_over boolean
)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select * from uptuple.claim_jobs($1, 1, $2);
$function$;

comment on function uptuple.claim_job(text, text) is
  'Lease the next due job to a worker for 30 seconds: one row with its owner_token, or none if nothing is due.';

revoke execute on function uptuple.claim_job(text, text) from public;
grant execute on function uptuple.claim_job(text, text) to uptuple_worker, uptuple_operator;
