-- The kind of check that a URL asks for, by its scheme. Reads nothing; called by add_service and update_service.
create or replace function uptuple.service_kind(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  scheme constant text := lower(substring(url from '^([A-Za-z][A-Za-z0-9+.-]*):'));
  kind constant text := case
    when scheme in ('http', 'https') then 'http'
    when scheme in ('tcp', 'tls') then 'tcp'
    when scheme in ('postgresql', 'postgres') then 'postgresql'
    when scheme in ('dns', 'certificate', 'heartbeat') then scheme
  end;
begin
  if url is null or btrim(url) = '' then
    raise exception 'url is missing' using errcode = 'invalid_parameter_value', hint = 'Give a URL such as https://example.com/health.';
  end if;
  -- What is wrong with it is a character and not the scheme: service_url says which.
  if kind is null and url ~ '[[:space:][:cntrl:]]' then
    return 'http';
  end if;
  if kind is null then
    raise exception 'url % does not start with http:// or https://, nor as any other check does', quote_literal(uptuple.shown_url(left(url, 2000)))
      using errcode = 'invalid_parameter_value',
            hint = 'Start it with http://, https://, tcp://, tls://, dns:, certificate://, postgresql:// or heartbeat:.';
  end if;
  return kind;
end
$function$;

comment on function uptuple.service_kind(text) is
  'The kind of check that a URL asks for: http, tcp (also tls://), dns, certificate, postgresql or heartbeat.';

revoke execute on function uptuple.service_kind(text) from public;
