-- Note the services that have a window in an hour whose job is not finished, so that the hour is counted anew when it is.
--
-- From the index of live jobs, which is short, region by region as claims read it. Called by roll_up before it counts the hour: a job that
-- ends in between is counted and noted, and does no harm. Reads job, writes unfinished_hour.
create or replace function uptuple.note_unfinished_hours(hour_start bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $function$
declare
  region_name text;
begin
  for region_name in select name from uptuple.region order by name loop
    with live as materialized (
      select job.service_id, job.purpose
      from uptuple.job
      where job.region = region_name
        and job.state = any ('{READY,RUNNING}')
        and job.scheduled_slot >= hour_start
        and job.scheduled_slot < hour_start + 3600
      order by job.region, job.due_at, job.id
    )
    insert into uptuple.unfinished_hour (service_id, region, hour)
    select distinct live.service_id, region_name, to_timestamp(hour_start)
    from live
    where live.purpose = 'GRID'
    on conflict on constraint unfinished_hour_pkey do update set noted_at = excluded.noted_at;
  end loop;
end
$function$;

comment on function uptuple.note_unfinished_hours(bigint) is 'Notes the services that have an unfinished window in an hour, given by its first epoch second.';

revoke execute on function uptuple.note_unfinished_hours(bigint) from public;
