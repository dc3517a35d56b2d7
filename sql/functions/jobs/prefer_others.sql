-- Mark the windows just made of services that are to have a second look, and forget that they are to have one.
--
-- Called by enqueue_jobs if there is any such service. Skips what others hold: a batch that writes second looks holds states, and would
-- otherwise wait for this and this for it. Writes job and second_look.
create or replace function uptuple.prefer_others(since_slot bigint, until_slot bigint)
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
begin
  with looked_for as materialized (
    select look.ctid as look_id, look.service_id, look.region, look.worker, look.noted_at
    from uptuple.second_look look
    for update skip locked
  ),
  made as materialized (
    select looked_for.look_id, looked_for.worker, job.row_id, job.scheduled_slot
    from looked_for
    cross join lateral (
      select job.ctid as row_id, job.scheduled_slot
      from uptuple.job
      where job.service_id = looked_for.service_id
        and job.region = looked_for.region
        and job.scheduled_slot > since_slot
        and job.scheduled_slot <= until_slot
        and job.owner_token is null
        and job.finished_at is null
      order by job.scheduled_slot
      limit 1
      for no key update skip locked
    ) job
  ),
  marked as (
    update uptuple.job
    set avoid_worker = made.worker
    from made
    where job.ctid = made.row_id and job.scheduled_slot = made.scheduled_slot
  )
  delete from uptuple.second_look look
  using looked_for
  where look.ctid = looked_for.look_id
    and (
      looked_for.noted_at < clock_timestamp() - interval '2 days'
      or exists (select from made where made.look_id = looked_for.look_id)
    );
end
$function$;

comment on function uptuple.prefer_others(bigint, bigint) is
  'Lets others go first in those windows just made whose service is to have a second look.';

revoke execute on function uptuple.prefer_others(bigint, bigint) from public;
