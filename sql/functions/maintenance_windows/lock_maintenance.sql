-- Keep everybody else from changing maintenance, and notices from being held by what is about to change, until the end of the transaction.
--
-- Race, a notice is held until the end of a window that is ended at the same moment: whoever holds a notice takes the table in share and reads
-- it after that, so one of the two sees the other. The table of channels comes first, as for all who go on to lock lanes: add_channel holds
-- it alone while it writes notices that may be held. Called first by whoever changes maintenance or what it covers.
create or replace function uptuple.lock_maintenance()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
begin
  lock table uptuple.channel in row exclusive mode;
  lock table uptuple.maintenance_window in exclusive mode;
end
$function$;

comment on function uptuple.lock_maintenance() is 'Locks maintenance against whoever else changes it or holds a notice because of it.';

revoke execute on function uptuple.lock_maintenance() from public;
