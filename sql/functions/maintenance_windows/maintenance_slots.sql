-- The epoch seconds from one up to and without another at which a service is in maintenance: windows that start there are not expected.
create or replace function uptuple.maintenance_slots(service_id bigint, from_slot bigint, until_slot bigint)
returns int8multirange
language sql
stable
set search_path = pg_catalog, pg_temp
as $function$
  select coalesce(range_agg(int8range(ceil(extract(epoch from lower(span)))::bigint, ceil(extract(epoch from upper(span)))::bigint)), '{}')
  from unnest(uptuple.maintenance_between($1, to_timestamp($2), to_timestamp($3))) span;
$function$;

comment on function uptuple.maintenance_slots(bigint, bigint, bigint) is
  'The epoch seconds at which a service, by id, is in maintenance, of all stretches that touch the time between two.';

revoke execute on function uptuple.maintenance_slots(bigint, bigint, bigint) from public;
