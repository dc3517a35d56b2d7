-- Make the job of one window by hand. Returns its id; the one there is, if the window has its job already.
--
-- The slot must be a start of a window of the service's present grid, not older than one interval, and at most one interval ahead;
-- anything else is refused with the nearest slot. A window that has begun may have been rolled up already, and is noted. Writes job,
-- unfinished_hour and region, and wakes the runtimes. For psql and for tests of one window.
create or replace function uptuple.enqueue_job(service text, scheduled_slot bigint)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  watched constant uptuple.service := uptuple.find_service(service);
  now_second constant bigint := floor(extract(epoch from clock_timestamp()));
  off_grid constant bigint := mod(mod(scheduled_slot - watched.phase_seconds, watched.interval_seconds) + watched.interval_seconds, watched.interval_seconds);
  job_id bigint;
begin
  if not watched.enabled then
    raise exception 'the service % is disabled', quote_literal(service)
      using errcode = 'UT002', hint = 'select uptuple.enable_service(...) first.';
  end if;
  if not watched.probed then
    raise exception 'the service % is a heartbeat, which nobody probes', quote_literal(service)
      using errcode = 'UT002', hint = 'It reports by itself: select uptuple.heartbeat(...).';
  end if;
  if (off_grid = 0) is not true then
    raise exception 'scheduled_slot % is not the start of a window of %', coalesce(scheduled_slot::text, 'null'), quote_literal(service)
      using errcode = 'UT002', hint = format('The window it lies in starts at %s.', scheduled_slot - off_grid);
  end if;
  if scheduled_slot < now_second - watched.interval_seconds then
    raise exception 'scheduled_slot % is older than one interval (% s)', scheduled_slot, watched.interval_seconds
      using errcode = 'UT002', hint = format('The newest window that has started is %s.', now_second - mod(now_second - watched.phase_seconds, watched.interval_seconds));
  end if;
  if scheduled_slot < watched.first_slot then
    raise exception 'scheduled_slot % is before the first window of %', scheduled_slot, quote_literal(service)
      using errcode = 'UT002', hint = format('The first window of its present grid starts at %s.', watched.first_slot);
  end if;
  if scheduled_slot > now_second + watched.interval_seconds then
    raise exception 'scheduled_slot % is more than one interval (% s) ahead', scheduled_slot, watched.interval_seconds
      using errcode = 'UT002', hint = 'Windows are made when they begin.';
  end if;

  perform uptuple.ensure_partitions(scheduled_slot, scheduled_slot);
  if scheduled_slot <= now_second then
    perform uptuple.note_late_window(watched.id, watched.regions[1], scheduled_slot);
  end if;
  insert into uptuple.job as window_job (scheduled_slot, service_id, region, revision, interval_seconds, due_at)
  values (
    scheduled_slot, watched.id, watched.regions[1], watched.revision, watched.interval_seconds,
    to_timestamp(scheduled_slot + watched.phase_ms / 1000.0)
  )
  on conflict on constraint job_window_key do update set due_at = window_job.due_at
  returning window_job.id into job_id;

  perform uptuple.lower_queue_head(watched.regions[1], to_timestamp(scheduled_slot));
  notify uptuple_jobs;
  return job_id;
end
$function$;

comment on function uptuple.enqueue_job(text, bigint) is
  'Make the job of one window of a service by its start in epoch seconds. Returns its id, or that of the job the window has already. '
  'Slots off the present grid, older than one interval or more than one ahead are refused.';

revoke execute on function uptuple.enqueue_job(text, bigint) from public;
grant execute on function uptuple.enqueue_job(text, bigint) to uptuple_operator;
