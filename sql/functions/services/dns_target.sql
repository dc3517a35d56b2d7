-- The canonical form of dns:name: lower case, without the dot at the end. Names may have underscores, as _dmarc has. Reads nothing; called
-- by service_target.
create or replace function uptuple.dns_target(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  name constant text := regexp_replace(substring(url from '^[A-Za-z]+:(.*)$'), '\.$', '');
begin
  if name = '' or name ~ '[/?#@:\[\]]' then
    raise exception 'url % is not dns: and a name', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value',
            hint = 'Write it as dns:example.com; the resolver and the type of record are options: ''{"record_type": "MX", "resolver": "1.1.1.1"}''.';
  end if;
  return 'dns:' || uptuple.canonical_host(name, url);
end
$function$;

comment on function uptuple.dns_target(text) is 'The canonical form of dns:name, or an error that names the cure.';

revoke execute on function uptuple.dns_target(text) from public;
