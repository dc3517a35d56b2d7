-- Take one task that is due, or that a person asked for, under its named lock: a row, or none if nothing is due. The
-- first of a run's three calls.
--
-- Next: execute_task(run_id, token) on a connection of its own whose statement_timeout is what this returns, or what is
-- left of lease_ms if that is less; then finish_task(run_id, token), whatever came of it. Fires that nobody could run
-- are dealt with here by the task's miss policy. The database's clock decides what is due. Called by each runtime about
-- once a second, until it returns no row.
create or replace function uptuple.claim_task(worker text)
returns table (
  run_id bigint,
  token uuid,
  task text,
  fire_at timestamptz,
  function text,
  statement_timeout_ms bigint,
  lease_ms bigint,
  trace_id text
)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select * from uptuple.claim_task_at(worker, clock_timestamp());
$function$;

comment on function uptuple.claim_task(text) is
  'Take one due task: a row with run_id and token for execute_task and finish_task, or none if nothing is due. '
  'lease_ms and statement_timeout_ms count from now.';

revoke execute on function uptuple.claim_task(text) from public;
grant execute on function uptuple.claim_task(text) to uptuple_worker, uptuple_operator;
