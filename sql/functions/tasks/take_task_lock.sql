-- acquire_lock with a task's times. Part of claim_task_at, whose transaction is short and does nothing after it but
-- write the run.
create or replace function uptuple.take_task_lock(lock_name text, at_most_ms bigint, at_least_ms bigint, worker text)
returns uuid
language sql
set search_path = pg_catalog, pg_temp
as $function$
  select uptuple.acquire_lock(
    lock_name, make_interval(secs => at_most_ms / 1000.0), make_interval(secs => at_least_ms / 1000.0), worker
  );
$function$;

comment on function uptuple.take_task_lock(text, bigint, bigint, text) is
  'Takes the named lock of a task; null while it is held.';

revoke execute on function uptuple.take_task_lock(text, bigint, bigint, text) from public;
