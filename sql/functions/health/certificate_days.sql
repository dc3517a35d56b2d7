-- Days that the certificate of an observation has left at a moment, to the tenth, rounded down; negative once it has expired. Null if there is none
-- or its date cannot be read. Reads nothing.
create or replace function uptuple.certificate_days(observation jsonb, at timestamptz)
returns numeric
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set DateStyle = 'ISO, DMY'
as $function$
begin
  return floor(extract(epoch from (observation #>> '{certificate,not_after}')::timestamptz - at)::numeric / 8640) / 10;
exception when data_exception then
  return null;
end
$function$;

comment on function uptuple.certificate_days(jsonb, timestamptz) is 'Days that the certificate of an observation has left at a moment; null if it has none.';

revoke execute on function uptuple.certificate_days(jsonb, timestamptz) from public;
grant execute on function uptuple.certificate_days(jsonb, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
