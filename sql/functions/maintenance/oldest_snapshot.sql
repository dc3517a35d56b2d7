-- How old the oldest snapshot is that keeps vacuum from cleaning up in this database, and who holds it. No row if nobody does.
--
-- Holders are sessions and prepared transactions of this database. Runs as its caller, since PostgreSQL shows when a transaction began to
-- its own role, to members of pg_read_all_stats and to superusers: for others the age of such a one is null. Reads statistics only. For
-- the views maintenance and problems.
create or replace function uptuple.oldest_snapshot()
returns table (age interval, holder text)
language sql
stable
set search_path = pg_catalog, pg_temp
as $function$
  select held.age, held.holder
  from (
    select clock_timestamp() - activity.xact_start as age,
      format(
        'session %s of %s (%s)', activity.pid, activity.usename, concat_ws(', ', nullif(activity.application_name, ''), activity.state)
      ) as holder,
      activity.backend_xmin as snapshot
    from pg_catalog.pg_stat_activity activity
    where activity.datname = current_database()
      and activity.backend_xmin is not null
      and activity.pid <> pg_backend_pid()
    union all
    select clock_timestamp() - prepared.prepared, format('prepared transaction %s of %s', prepared.gid, prepared.owner), prepared.transaction
    from pg_catalog.pg_prepared_xacts prepared
    where prepared.database = current_database()
  ) held
  order by age(held.snapshot) desc, held.age desc nulls last
  limit 1;
$function$;

comment on function uptuple.oldest_snapshot() is
  'The oldest snapshot in this database: its age (null if PostgreSQL does not show it to you) and who holds it.';

revoke execute on function uptuple.oldest_snapshot() from public;
grant execute on function uptuple.oldest_snapshot() to uptuple_worker, uptuple_operator, uptuple_viewer;
