-- The canonical form of tcp://host:port, tls://host:port and certificate://host:port, whose port is 443 if it is left out. Reads
-- nothing; called by service_target.
create or replace function uptuple.socket_target(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  scheme constant text := lower(split_part(url, ':', 1));
  parts constant text[] := regexp_match(url, '^[A-Za-z]+://(\[[^]/?#@]*\]|[^:/?#@\[\]]*)(?::([^/?#@]*))?/?$');
  host text;
  port text;
begin
  if parts is null then
    raise exception 'url % is not a host and a port', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = format('Write it as %s://host:port; an IPv6 address goes in brackets.', scheme);
  end if;
  host := uptuple.canonical_host(parts[1], url);
  port := coalesce(nullif(parts[2], ''), case scheme when 'certificate' then '443' end);
  if port is null then
    raise exception 'url % has no port', quote_literal(url)
      using errcode = 'invalid_parameter_value', hint = format('Write it as %s://host:port.', scheme);
  end if;
  if port !~ '^[0-9]{1,5}$' or port::integer not between 1 and 65535 then
    raise exception 'url % has the port %, which does not exist', quote_literal(url), port
      using errcode = 'invalid_parameter_value', hint = 'Ports are 1 to 65535.';
  end if;
  return scheme || '://' || host || ':' || port::integer;
end
$function$;

comment on function uptuple.socket_target(text) is 'The canonical form of a tcp://, tls:// or certificate:// URL, or an error that names the cure.';

revoke execute on function uptuple.socket_target(text) from public;
