-- Make the daily partitions of job and result for all slots between two epoch seconds, where they are missing.
--
-- By default from yesterday to a week ahead, as upkeep calls it; enqueueing and recording call it with their own slots, so they never fail
-- for want of one. A partition is made standalone with its CHECK and then attached: CREATE TABLE ... PARTITION OF would lock the parent
-- against everything. Race, two callers want the same day: the second waits for the first's advisory lock and finds it made.
create or replace function uptuple.ensure_partitions(
  from_slot bigint default extract(epoch from clock_timestamp() - interval '1 day')::bigint,
  to_slot bigint default extract(epoch from clock_timestamp() + interval '7 days')::bigint
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  day_seconds constant integer := 86400;
  parent text;
  partition text;
  lower_slot bigint;
  made integer := 0;
begin
  for day in from_slot / day_seconds .. to_slot / day_seconds loop
    lower_slot := day * day_seconds;
    foreach parent in array '{job,result}'::text[] loop
      partition := parent || to_char(to_timestamp(lower_slot) at time zone 'UTC', '_YYYYMMDD');
      continue when to_regclass('uptuple.' || partition) is not null;

      -- to_regclass may still answer from before the wait for the lock; a new snapshot does not.
      perform pg_advisory_xact_lock(hashtextextended('uptuple.ensure_partitions', 0));
      perform from pg_catalog.pg_class where relname = partition and relnamespace = 'uptuple'::regnamespace;
      continue when found;

      execute format(
        'create table uptuple.%1$I (
           like uptuple.%2$I including defaults including constraints including indexes,
           constraint %1$s_day check (scheduled_slot >= %3$s and scheduled_slot < %4$s)
         ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2)',
        partition, parent, lower_slot, lower_slot + day_seconds
      );
      execute format(
        'alter table uptuple.%I attach partition uptuple.%I for values from (%s) to (%s)',
        parent, partition, lower_slot, lower_slot + day_seconds
      );
      execute format('alter table uptuple.%1$I drop constraint %1$s_day', partition);
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$function$;

comment on function uptuple.ensure_partitions(bigint, bigint) is
  'Makes the missing daily partitions of job and result between two epoch seconds, by default from yesterday to a week ahead. Returns how many.';

revoke execute on function uptuple.ensure_partitions(bigint, bigint) from public;
grant execute on function uptuple.ensure_partitions(bigint, bigint) to uptuple_task, uptuple_worker, uptuple_operator;
