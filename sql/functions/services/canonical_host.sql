-- A host in its canonical spelling, or an error that quotes the URL it comes from and says what is wrong.
--
-- Addresses get their usual form. Names are lower case and stay in their own script, which the runtime encodes; what every URL parser
-- maps away (soft hyphens, full-width letters, ideographic full stops) is mapped away here, so that nobody hides a host behind it. A
-- secret in a host stays as it is. Reads nothing. Called by service_url, socket_target, dns_target and postgresql_target.
create or replace function uptuple.canonical_host(host text, url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  label text;
begin
  if host = '' then
    raise exception 'url % has no host', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Write it as https://host/path.';
  end if;
  if position('${UPTUPLE_SECRET_' in host) > 0 then
    return host;
  end if;
  if left(host, 1) = '[' then
    begin
      if family(btrim(host, '[]')::inet) <> 6 or position('/' in host) > 0 then
        raise exception using errcode = 'invalid_parameter_value';
      end if;
      return '[' || pg_catalog.host(btrim(host, '[]')::inet) || ']';
    exception when others then
      raise exception 'url % has no valid IPv6 address in its brackets', quote_literal(uptuple.shown_url(url))
        using errcode = 'invalid_parameter_value', hint = 'Write it as http://[2001:db8::1]/path.';
    end;
  end if;

  host := translate(lower(host), U&'\3002\FF0E\FF61\00AD\200B\2060\FEFF', '...');
  if host ~ '[^\u0001-\u007f]' and getdatabaseencoding() = 'UTF8' then
    host := lower(normalize(host, nfkc));
  end if;
  if host = '' or host ~ '\.\.|^\.|(^|\.)-' or length(host) > 253 or host ~ '[^.]{64}' then
    raise exception 'url % has a host with a label that is empty, too long, or starts with a hyphen', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Labels have 1 to 63 characters, a host up to 253.';
  end if;
  if host ~ '[^a-z0-9._\u0080-\U0010ffff-]|[\u0080-\u00a0\u2028\u2029]' then
    raise exception 'url % has a host with a character that no host name has', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Use letters, digits, hyphens and dots.';
  end if;
  foreach label in array string_to_array(host, '.') loop
    if label ~ '^xn--' and not uptuple.is_punycode(substr(label, 5)) then
      raise exception 'url % has a host with the label %, which encodes no name', quote_literal(uptuple.shown_url(url)), quote_literal(label)
        using errcode = 'invalid_parameter_value', hint = 'Write the name in its own script, such as http://мтр24.рф/.';
    end if;
  end loop;
  return coalesce(uptuple.ipv4_host(host), host);
end
$function$;

comment on function uptuple.canonical_host(text, text) is 'A host in its canonical spelling, or an error that quotes the URL and names the cure.';

revoke execute on function uptuple.canonical_host(text, text) from public;
