-- The upper bounds of the lateness histogram's buckets, in seconds. The last bucket has none. Reads nothing.
create or replace function uptuple.lateness_bounds()
returns double precision[]
language sql
immutable
return array[0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]::double precision[];

comment on function uptuple.lateness_bounds() is 'The upper bounds of the buckets of uptuple_job_lateness_seconds.';

revoke execute on function uptuple.lateness_bounds() from public;
