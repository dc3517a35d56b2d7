-- When the maintenance ends that a service, by id, is in at an instant, with all that overlaps it or follows at once; null if it is in none.
create or replace function uptuple.maintenance_end(service_id bigint, at timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  if not uptuple.in_maintenance(service_id, at) then
    return null;
  end if;
  return (
    select upper(span)
    from unnest(uptuple.maintenance_between(service_id, at, 'infinity')) span
    where span @> at
  );
end
$function$;

comment on function uptuple.maintenance_end(bigint, timestamptz) is
  'When the maintenance ends that a service, by id, is in at an instant; null if it is in none.';

revoke execute on function uptuple.maintenance_end(bigint, timestamptz) from public;
