-- Drop the daily partitions of job and result that are older than they are kept. Returns how many.
--
-- Left out, the times are those of set_retention. A day stays until it is rolled up, with the last of its late results, since roll_up reads
-- both. Waits at most 50 ms for a lock, so that it does not stall the claims that queue up behind it: a partition that is in use stays until
-- the next call, and after the third the rest does. Oldest first. Race, another caller, or rebuild_roll_ups reads the results: this does
-- nothing. A scheduled task that ships calls it through apply_retention. Writes retention.
create or replace function uptuple.drop_old_partitions(keep_jobs interval default null, keep_results interval default null)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $function$
#variable_conflict use_variable
declare
  today constant timestamp := clock_timestamp() at time zone 'UTC';
  old record;
  locked integer;
  in_use integer := 0;
  dropped integer := 0;
begin
  keep_jobs := coalesce(keep_jobs, (select retention.keep from uptuple.retention where retention.kind = 'jobs'));
  keep_results := coalesce(keep_results, (select retention.keep from uptuple.retention where retention.kind = 'results'));
  if keep_jobs < interval '2 days' then
    raise exception 'keep_jobs is %, and must be at least 2 days', keep_jobs
      using errcode = 'invalid_parameter_value', hint = 'Jobs of the last two days may still be claimed.';
  end if;
  if keep_results < keep_jobs then
    raise exception 'keep_results is %, and must be at least keep_jobs (%)', keep_results, keep_jobs
      using errcode = 'invalid_parameter_value', hint = 'A job that is DONE keeps its result as long as it is kept itself.';
  end if;

  select count(*) into locked
  from (
    select from uptuple.retention where retention.kind in ('jobs', 'results') order by retention.kind for no key update skip locked
  ) kinds;
  if locked < 2 then
    return 0;
  end if;

  for old in
    select daily.partition, daily.kind, daily.until
    from (
      select child.relname as partition,
        case parent.relname when 'job' then 'jobs' else 'results' end as kind,
        case parent.relname when 'job' then keep_jobs else keep_results end as keep,
        to_date(right(child.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC' as since,
        (to_date(right(child.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' as until
      from pg_catalog.pg_inherits
      join pg_catalog.pg_class child on child.oid = pg_inherits.inhrelid
      join pg_catalog.pg_class parent on parent.oid = pg_inherits.inhparent
      where parent.oid in ('uptuple.job'::regclass, 'uptuple.result'::regclass)
        and child.relname ~ '_[0-9]{8}$'
    ) daily
    where daily.until <= date_trunc('day', today - daily.keep) at time zone 'UTC'
      and daily.until <= (select to_timestamp(roll_up_mark.rolled_until) from uptuple.roll_up_mark)
      and not exists (select from uptuple.unfinished_hour where unfinished_hour.hour >= daily.since and unfinished_hour.hour < daily.until)
    order by daily.since, daily.partition
  loop
    begin
      execute format('drop table uptuple.%I', old.partition);
      update uptuple.retention set gone_before = greatest(retention.gone_before, old.until) where retention.kind = old.kind;
      dropped := dropped + 1;
    exception when lock_not_available then
      raise notice 'partition % is in use and stays until the next call', old.partition;
      in_use := in_use + 1;
      exit when in_use = 3;
    end;
  end loop;
  return dropped;
end
$function$;

comment on function uptuple.drop_old_partitions(interval, interval) is
  'Drops the daily partitions of job and result that are older than keep_jobs and keep_results (default: as set_retention says) and rolled '
  'up. Returns how many. One in use is left for the next call.';

revoke execute on function uptuple.drop_old_partitions(interval, interval) from public;
grant execute on function uptuple.drop_old_partitions(interval, interval) to uptuple_task, uptuple_worker, uptuple_operator;
