-- Set right what nobody came back for: jobs and notices whose last lease ended, windows that nobody claimed in time, runtimes long gone.
--
-- Also tells of notices that are dead, and forgets those that were settled long ago. Skips what others hold. Called once a minute by every runtime; more often does no harm.
-- Writes job, delivery, event, channel, worker.
create or replace function uptuple.sweep()
returns table (jobs_ended integer, alerts_buried integer, workers_forgotten integer)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  jobs_ended := uptuple.end_jobs();
  alerts_buried := uptuple.bury_expired_alerts();
  perform uptuple.tell_dead_deliveries();
  perform uptuple.forget_alerts();

  with gone as (
    select worker.name from uptuple.worker
    where worker.seen_at < clock_timestamp() - interval '1 day'
    order by worker.name
    for update skip locked
  )
  delete from uptuple.worker using gone where worker.name = gone.name;
  get diagnostics workers_forgotten = row_count;
  return next;
end
$function$;

comment on function uptuple.sweep() is
  'Ends jobs and notices whose last lease ran out and windows that nobody claimed in time, and forgets runtimes not seen for a day.';

revoke execute on function uptuple.sweep() from public;
grant execute on function uptuple.sweep() to uptuple_task, uptuple_worker, uptuple_operator;
