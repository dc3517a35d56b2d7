-- Drop the daily partitions of job and result that are older than they are kept. Returns how many.
--
-- Waits at most 50 ms for a lock, so that it never stalls claims behind it: a partition that is in use stays until the next call. Oldest
-- first. Called by upkeep.
create or replace function uptuple.drop_old_partitions(
  keep_jobs interval default interval '2 days',
  keep_results interval default interval '30 days'
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $function$
declare
  old record;
  dropped integer := 0;
begin
  if (keep_jobs >= interval '2 days') is not true then
    raise exception 'keep_jobs is %, and must be at least 2 days', coalesce(keep_jobs::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'Jobs of the last two days may still be claimed.';
  end if;
  if (keep_results >= keep_jobs) is not true then
    raise exception 'keep_results is %, and must be at least keep_jobs (%)', coalesce(keep_results::text, 'null'), keep_jobs
      using errcode = 'invalid_parameter_value', hint = 'A job that is DONE keeps its result as long as it is kept itself.';
  end if;

  for old in
    select child.relname as partition
    from pg_catalog.pg_inherits
    join pg_catalog.pg_class child on child.oid = pg_inherits.inhrelid
    join pg_catalog.pg_class parent on parent.oid = pg_inherits.inhparent
    join pg_catalog.pg_namespace on pg_namespace.oid = parent.relnamespace and pg_namespace.nspname = 'uptuple'
    where parent.relname in ('job', 'result')
      and child.relname ~ '_[0-9]{8}$'
      and to_date(right(child.relname, 8), 'YYYYMMDD') + 1
        <= (clock_timestamp() at time zone 'UTC' - case parent.relname when 'job' then keep_jobs else keep_results end)::date
    order by right(child.relname, 8), child.relname
  loop
    begin
      execute format('drop table uptuple.%I', old.partition);
      dropped := dropped + 1;
    exception when lock_not_available then
      raise notice 'partition % is in use and stays until the next call', old.partition;
    end;
  end loop;
  return dropped;
end
$function$;

comment on function uptuple.drop_old_partitions(interval, interval) is
  'Drops the daily partitions of job and result that are older than keep_jobs and keep_results. Returns how many. One in use is left for the next call.';

revoke execute on function uptuple.drop_old_partitions(interval, interval) from public;
grant execute on function uptuple.drop_old_partitions(interval, interval) to uptuple_task, uptuple_worker, uptuple_operator;
