-- The canonical form of a target that an HTTP check can work with, or an error that says what is wrong with this one.
--
-- Refuses what could never be probed: another scheme, no host, a port outside 1-65535, an empty label, blanks, a backslash, a
-- user without a host. What hosts may be, canonical_host says.
-- Secrets stay as ${UPTUPLE_SECRET_NAME}. Reads and writes nothing; called by service_target, and for the URLs of channels.
create or replace function uptuple.service_url(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  parts text[];
  scheme text;
  userinfo text;
  host text;
  port text;
  rest text;
begin
  if url is null or btrim(url) = '' then
    raise exception 'url is missing' using errcode = 'invalid_parameter_value', hint = 'Give a URL such as https://example.com/health.';
  end if;
  if length(url) > 2000 then
    raise exception 'url is % characters long', length(url)
      using errcode = 'invalid_parameter_value', hint = 'A URL may have up to 2000 characters.';
  end if;
  if url ~ '[[:space:][:cntrl:]\\<>"^`|]' then
    raise exception 'url % has a character that a URL cannot hold', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Percent-encode blanks, quotes, backslashes and control characters.';
  end if;

  parts := regexp_match(url, '^([A-Za-z][A-Za-z0-9+.-]*):(.*)$');
  if parts is null or lower(parts[1]) not in ('http', 'https') then
    raise exception 'url % does not start with http:// or https://', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Only http and https can be probed.';
  end if;
  scheme := lower(parts[1]);

  -- userinfo, host (a name or a bracketed IPv6 literal), port, and the rest from the first of / ? #
  parts := regexp_match(parts[2], '^//(?:([^/?#]*)@)?(\[[^]/?#@]*\]|[^:/?#@\[\]]*)(?::([^/?#]*))?([/?#].*)?$');
  if parts is null then
    raise exception 'url % has no host that can be read', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Write it as https://host/path; an IPv6 address goes in brackets.';
  end if;
  userinfo := parts[1];
  host := parts[2];
  port := nullif(parts[3], '');
  rest := coalesce(parts[4], '/');

  host := uptuple.canonical_host(host, url);
  if port is not null and (port !~ '^[0-9]{1,5}$' or port::integer not between 1 and 65535) then
    raise exception 'url % has the port %, which does not exist', quote_literal(uptuple.shown_url(url)), port
      using errcode = 'invalid_parameter_value', hint = 'Ports are 1 to 65535.';
  end if;
  if userinfo is not null and userinfo !~ '\$\{UPTUPLE_SECRET_' and userinfo ~ '%(?![0-9A-Fa-f]{2})' then
    raise exception 'url has user information with a broken percent-encoding'
      using errcode = 'invalid_parameter_value', hint = 'Write % as %25, @ as %40, or keep the password in ${UPTUPLE_SECRET_NAME}.';
  end if;
  port := nullif(port::integer, case scheme when 'http' then 80 else 443 end);
  if left(rest, 1) <> '/' then
    rest := '/' || rest;
  end if;
  rest := split_part(rest, '#', 1);

  return scheme || '://' || coalesce(userinfo || '@', '') || host || coalesce(':' || port, '') || rest;
end
$function$;

comment on function uptuple.service_url(text) is
  'The canonical form of an http or https URL that can be probed, or an error that names what is wrong and the cure.';

revoke execute on function uptuple.service_url(text) from public;
grant execute on function uptuple.service_url(text) to uptuple_operator;
