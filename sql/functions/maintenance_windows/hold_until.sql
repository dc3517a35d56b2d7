-- Until when a notice of a service that is written now has to wait: the end of the maintenance it is in; null if it is in none.
--
-- Race, the maintenance is ended, cancelled or extended at this moment: the share of its table's lock keeps that out until this notice is
-- committed, and what came before is read again. Taken only if there is maintenance at all. Called by whoever writes deliveries, after the
-- channel table and before lanes are locked. Reads maintenance_occurrence; locks maintenance_window.
create or replace function uptuple.hold_until(service_id bigint)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  if service_id is null or not uptuple.in_maintenance(service_id, clock_timestamp()) then
    return null;
  end if;
  lock table uptuple.maintenance_window in row share mode;
  return uptuple.maintenance_end(service_id, clock_timestamp());
end
$function$;

comment on function uptuple.hold_until(bigint) is
  'The end of the maintenance that a service, by id, is in now, kept from changing until the transaction ends; null if it is in none.';

revoke execute on function uptuple.hold_until(bigint) from public;
