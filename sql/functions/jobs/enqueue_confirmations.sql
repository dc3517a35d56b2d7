-- After a DOWN below the threshold, make the next check come sooner than the grid has it (semantics 1.16).
--
-- A CONFIRM job outside the grid, due confirm_seconds from now (default: the smaller of the interval and 30 s), unless the grid's next
-- window is as near. So a service checked daily is announced after minutes and not after three days. Called by apply_results. Writes job.
create or replace function uptuple.enqueue_confirmations(service_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  now_second constant bigint := floor(extract(epoch from clock_timestamp()));
begin
  perform uptuple.ensure_partitions(now_second, now_second + 86400);

  insert into uptuple.job (scheduled_slot, service_id, region, revision, interval_seconds, purpose, due_at)
  select confirm_slot, service.id, region, service.revision, service.interval_seconds, 'CONFIRM',
    to_timestamp(confirm_slot + service.phase_ms / 1000.0)
  from unnest(service_ids) given (id)
  join uptuple.service on service.id = given.id and service.enabled
  cross join unnest(service.regions) region
  cross join lateral (
    select now_second + coalesce(service.confirm_seconds, least(service.interval_seconds, 30)) as confirm_slot,
      greatest(
        now_second - mod(mod(now_second - service.phase_seconds, service.interval_seconds) + service.interval_seconds, service.interval_seconds)
          + service.interval_seconds,
        service.first_slot
      ) as next_window
  ) next_check
  where confirm_slot < next_window
  order by confirm_slot, service.id
  on conflict on constraint job_window_key do nothing;
end
$function$;

comment on function uptuple.enqueue_confirmations(bigint[]) is
  'Makes the next check of services that are failing below their threshold come after confirm_every, if the grid would be later.';

revoke execute on function uptuple.enqueue_confirmations(bigint[]) from public;
