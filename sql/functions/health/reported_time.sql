-- A moment that a runtime reported in ISO 8601 with its zone, or null if the text is none: it came from a stranger's certificate.
--
-- The cast is tried in a block of its own, a subtransaction: called only when something new was reported. Reads nothing.
create or replace function uptuple.reported_time(value text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if value ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$' then
    return value::timestamptz;
  end if;
  return null;
exception when data_exception then
  return null;
end
$function$;

comment on function uptuple.reported_time(text) is 'A moment out of text in ISO 8601 with its zone, or null if it is none.';

revoke execute on function uptuple.reported_time(text) from public;
grant execute on function uptuple.reported_time(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
