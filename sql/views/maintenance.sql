-- What upkeep has to watch: the daily partitions with their sizes and last vacuum, and who keeps vacuum from cleaning up. A queue suffers
-- from nothing more than from an old snapshot: while it is held, no row that died after it can go.
create view uptuple.maintenance as
select
  parent.relname::text as kind,
  partitions.count as partitions,
  partitions.oldest,
  partitions.newest,
  partitions.bytes,
  partitions.dead_rows,
  partitions.last_autovacuum,
  snapshot.age as oldest_snapshot_age,
  snapshot.holder as oldest_snapshot_holder
from pg_catalog.pg_class parent
join pg_catalog.pg_namespace on pg_namespace.oid = parent.relnamespace and pg_namespace.nspname = 'uptuple'
cross join lateral (
  select count(*) as count,
    min(to_date(right(child.relname, 8), 'YYYYMMDD')) as oldest,
    max(to_date(right(child.relname, 8), 'YYYYMMDD')) as newest,
    sum(pg_catalog.pg_total_relation_size(child.oid))::bigint as bytes,
    sum(pg_catalog.pg_stat_get_dead_tuples(child.oid))::bigint as dead_rows,
    max(pg_catalog.pg_stat_get_last_autovacuum_time(child.oid)) as last_autovacuum
  from pg_catalog.pg_inherits
  join pg_catalog.pg_class child on child.oid = pg_inherits.inhrelid
  where pg_inherits.inhparent = parent.oid
) partitions
left join uptuple.oldest_snapshot() snapshot on true
where parent.relname in ('job', 'result')
order by parent.relname;

comment on view uptuple.maintenance is
  'The daily partitions of jobs and results: how many, from when to when, their bytes, dead rows and last autovacuum; and the oldest '
  'snapshot of this database, which keeps dead rows from being cleaned up, with its holder.';
comment on column uptuple.maintenance.oldest_snapshot_age is 'Null if nobody holds one, or PostgreSQL does not show you its age.';

grant select on uptuple.maintenance to uptuple_worker, uptuple_operator, uptuple_viewer;
