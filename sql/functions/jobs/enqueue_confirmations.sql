-- While a service fails without an incident, make its next check come sooner than the grid has it, and from another runtime.
--
-- Sooner: a CONFIRM job outside the grid, due confirm_seconds from now (default: the smaller of the interval and 30 s), unless the grid's
-- next window is as near or one waits already. So a service checked daily is announced after minutes and not after three days. From
-- another: who saw it fail, workers, lets its trusted colleagues go first, if it has any; in a window that is not made yet, enqueue_jobs
-- sees to that, told by second_look. Called by apply_results, and by retry_jobs and end_jobs for services whose check has just FAILED.
-- Writes job and second_look. A waiting job that somebody holds is skipped: he may be waiting for a state that the caller holds. Services
-- and states are looked up one by one: joined, a plan made for a few services read all of 2,000 for each of two.
create or replace function uptuple.enqueue_confirmations(service_ids bigint[], workers text[] default '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  now_second constant bigint := floor(extract(epoch from clock_timestamp()));
begin
  perform uptuple.ensure_partitions(now_second, now_second + 86400);

  insert into uptuple.job (scheduled_slot, service_id, region, revision, interval_seconds, purpose, due_at)
  select confirm_slot, service.id, state.region, service.revision, service.interval_seconds, 'CONFIRM',
    to_timestamp(confirm_slot + service.phase_ms / 1000.0)
  from (select distinct given.id from unnest(service_ids) given (id)) given
  cross join lateral (select service.* from uptuple.service where service.id = given.id offset 0) service
  cross join unnest(service.regions) region_name
  cross join lateral (
    select state.region, state.failure_streak, state.incident_id
    from uptuple.service_state state
    where state.service_id = service.id and state.region = region_name
    offset 0
  ) state
  cross join lateral (
    select now_second + coalesce(service.confirm_seconds, least(service.interval_seconds, 30)) as confirm_slot,
      greatest(
        now_second - mod(mod(now_second - service.phase_seconds, service.interval_seconds) + service.interval_seconds, service.interval_seconds)
          + service.interval_seconds,
        service.first_slot
      ) as next_window
  ) next_check
  where service.enabled and service.probed
    and state.failure_streak > 0 and state.incident_id is null
    and confirm_slot < next_window
    and not exists (
      select from uptuple.job waiting
      where waiting.service_id = service.id
        and waiting.region = state.region
        and waiting.scheduled_slot between now_second and confirm_slot
        and waiting.purpose = 'CONFIRM'
        -- READY, said so that the claim's index does not fit.
        and waiting.owner_token is null
        and waiting.finished_at is null
    )
  order by confirm_slot, service.id
  on conflict on constraint job_window_key do nothing;

  if cardinality(workers) > 0 then
    perform uptuple.ask_others(service_ids, workers);
  end if;
end
$function$;

comment on function uptuple.enqueue_confirmations(bigint[], text[]) is
  'Makes the next check of those of the services that fail without an incident come after confirm_every, if the grid would be later and no '
  'such check waits yet, and go to another runtime than the one of workers that saw it fail, if there is one.';

revoke execute on function uptuple.enqueue_confirmations(bigint[], text[]) from public;
