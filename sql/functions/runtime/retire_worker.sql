-- A runtime says that it stops, so that it is not shown as lost.
--
-- Its leases are not touched: it has given back what it did not finish. Called last by a runtime. Writes worker.
create or replace function uptuple.retire_worker(worker text)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  update uptuple.worker set stopped_at = clock_timestamp(), seen_at = clock_timestamp() where name = $1;
$function$;

comment on function uptuple.retire_worker(text) is 'A runtime reports that it stops.';

revoke execute on function uptuple.retire_worker(text) from public;
grant execute on function uptuple.retire_worker(text) to uptuple_worker;
