-- Give a service the grid of its interval from the next window on, and open a new row of its activity. One that reports by itself has no
-- grid: it is active from now on, and each verdict is a window.
--
-- The first window starts after now, above the newest slot there is, and above what has been enqueued, so that a window is never
-- there twice and slots stay ordered when the interval changes. Waits for a running enqueue_jobs: locks the cursor.
-- Writes service and service_active. Called by add_service, update_service and enable_service.
create or replace function uptuple.start_grid(service_id bigint, interval_seconds integer)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  phase constant integer := (hashint8extended(service_id, 1) & 2147483647) % interval_seconds;
  after_slot bigint;
  first bigint;
begin
  if not (select service.probed from uptuple.service where service.id = service_id) then
    perform uptuple.stop_grid(service_id);
    update uptuple.service
    set interval_seconds = start_grid.interval_seconds, phase_seconds = 0
    where service.id = service_id;
    insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during, probed)
    select service_id, region, interval_seconds, 0, tstzrange(date_trunc('second', clock_timestamp()), null), false
    from uptuple.service, unnest(service.regions) region
    where service.id = service_id;
    return;
  end if;

  select greatest(
      extract(epoch from clock_timestamp())::bigint,
      cursor.enqueued_until,
      (select max(job.scheduled_slot) from uptuple.job where job.service_id = service_id)
    ) into after_slot
  from uptuple.enqueue_cursor cursor
  for no key update of cursor;

  first := after_slot + 1 + mod(phase - mod(after_slot + 1, interval_seconds) + interval_seconds, interval_seconds);

  perform uptuple.stop_grid(service_id);
  update uptuple.service
  set interval_seconds = start_grid.interval_seconds,
      phase_seconds = phase,
      phase_ms = (hashint8extended(service_id, 2) & 2147483647) % 1000,
      first_slot = first
  where service.id = service_id;

  insert into uptuple.service_active (service_id, region, interval_seconds, phase_seconds, during)
  select service_id, region, interval_seconds, phase, tstzrange(to_timestamp(first), null)
  from uptuple.service, unnest(service.regions) region
  where service.id = service_id;
end
$function$;

comment on function uptuple.start_grid(bigint, integer) is
  'Gives a service the grid of its interval from the next window on, and records when it became active.';

revoke execute on function uptuple.start_grid(bigint, integer) from public;
