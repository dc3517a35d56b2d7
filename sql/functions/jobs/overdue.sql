-- Has any job, of any region, waited to be claimed for longer than that (READY, or RUNNING with an ended lease)?
--
-- Reads region and job. Called by unwell, by which the runtime vouches for the monitor with its heartbeat.
create or replace function uptuple.overdue(longer_than interval)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select exists (select from uptuple.region where uptuple.first_due(region.name, '-infinity') < clock_timestamp() - $1);
$function$;

comment on function uptuple.overdue(interval) is 'True if any job has been due, and claimed by nobody, for longer than that.';

revoke execute on function uptuple.overdue(interval) from public;
grant execute on function uptuple.overdue(interval) to uptuple_worker, uptuple_operator, uptuple_viewer;
