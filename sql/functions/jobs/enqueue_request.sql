-- Make a job outside the grid for the present second, due at once, and wake the runtimes. Returns the job's id.
--
-- One job per (service, region, second): where there is one already, it is the answer. A second in which a window of the service
-- starts is that window's job, so that a request never takes a window's place. Writes job. Called by check_now, add_service and
-- enable_service.
create or replace function uptuple.enqueue_request(service_id bigint, purpose text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  slot constant bigint := floor(extract(epoch from at));
  job_id bigint;
begin
  perform uptuple.ensure_partitions(slot, slot);

  insert into uptuple.job as waiting (scheduled_slot, service_id, region, revision, interval_seconds, purpose, due_at)
  select slot, service.id, service.regions[1], service.revision, service.interval_seconds,
    case when slot >= service.first_slot and mod(slot, service.interval_seconds) = service.phase_seconds then 'GRID' else purpose end,
    at
  from uptuple.service
  where service.id = service_id
  on conflict on constraint job_window_key do update
    set due_at = case when waiting.state = 'READY' then least(waiting.due_at, at) else waiting.due_at end
  returning waiting.id into job_id;

  notify uptuple_jobs;
  return job_id;
end
$function$;

comment on function uptuple.enqueue_request(bigint, text) is 'Makes a job for the present second, or returns the one there is.';

revoke execute on function uptuple.enqueue_request(bigint, text) from public;
