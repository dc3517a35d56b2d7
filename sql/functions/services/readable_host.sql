-- A URL with the labels of its host out of punycode. What follows the host stays, and so does a label that encodes no name. Reads nothing;
-- called by readable_url.
create or replace function uptuple.readable_host(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  parts constant text[] := regexp_match(url, '^([A-Za-z][A-Za-z0-9+.-]*:/*(?:[^/?#]*@)?)([^/?#:]*)(.*)$');
  label text;
  labels text[];
begin
  if parts is null then
    return url;
  end if;
  foreach label in array string_to_array(parts[2], '.') loop
    labels := labels || coalesce(case when label ~ '^xn--' then uptuple.from_punycode(substr(label, 5)) end, label);
  end loop;
  return parts[1] || array_to_string(labels, '.') || parts[3];
end
$function$;

comment on function uptuple.readable_host(text) is 'A URL with the labels of its host out of punycode.';

revoke execute on function uptuple.readable_host(text) from public;
grant execute on function uptuple.readable_host(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
