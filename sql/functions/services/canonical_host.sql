-- A host in its canonical spelling, or an error that quotes the URL it comes from and says what is wrong.
--
-- Addresses get their usual form. Names are lower case and in punycode, as they are asked for and as certificates have them (UTS 46,
-- nontransitional: faß is xn--fa-hia), so that nobody hides a host behind a spelling. A name of which it is not sure how it is mapped is
-- refused, and may be given in punycode. A secret in a host stays as it is. Reads nothing. Called by service_url, socket_target, dns_target
-- and postgresql_target.
create or replace function uptuple.canonical_host(host text, url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  -- Controls, marks that turn the direction, private and unassigned characters, and those whose mapping PostgreSQL does not have.
  unsure constant text :=
    '[\u0080-\u00a0\u0345\u03f2\u03f9\u061c\u10a0-\u10c6\u13a0-\u13fd\u1680\u180e\u1c80-\u1cbf\u1f80-\u1faf\u1fb2-\u1fb4\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc7\u1fcc\u1ff2-\u1ff4\u1ff7\u1ffc\u200c-\u200f'
    '\u2024-\u202f\u2061-\u2063\u2065-\u206f\u2132\u2183\u2c2f\ua7b8\ua7ba\ua7bc\ua7be\ua7c0\ua7c2\ua7c4-\ua7f5\uab70-\uabbf\ud7fc-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U00010570-\U00010595\U0001d6d3\U0001d70d\U0001d747\U0001d781\U0001d7bb\U000323b0-\U000e00ff\U000e01f0-\U0010ffff]';
  right_to_left constant text := '[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]';
  label text;
  name text;
  names text := '';
  labels text[];
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

  if host ~ '[^\u0001-\u007f]' and getdatabaseencoding() <> 'UTF8' then
    raise exception 'url % has a host that this database cannot encode', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Write the host in punycode, such as xn--24-7lcqj.xn--p1ai.';
  end if;
  if host ~ unsure then
    raise exception 'url % has a host with a character that no host name has, or that is written in more than one way', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Write the host in punycode, such as xn--24-7lcqj.xn--p1ai.';
  end if;
  begin
    host := uptuple.mapped_host(host);
  exception when undefined_object then
    raise exception 'url % has a host that this server, without ICU, cannot encode', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Write the host in punycode, such as xn--24-7lcqj.xn--p1ai.';
  end;
  if host ~ '[^a-z0-9._\u0080-\U0010ffff-]' then
    raise exception 'url % has a host with a character that no host name has', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Use letters, digits, hyphens and dots.';
  end if;

  foreach label in array string_to_array(host, '.') loop
    name := label;
    if label ~ '^xn--' then
      name := uptuple.from_punycode(substr(label, 5));
      -- Joiners are left to whoever wrote the punycode: whether one may stand where it does depends on the script.
      if (name ~ '[^\u0001-\u007f]' and translate(name, U&'\200C\200D', '') !~ unsure and uptuple.mapped_host(name) = name) is not true then
        raise exception 'url % has a host with the label %, which encodes no name', quote_literal(uptuple.shown_url(url)), quote_literal(label)
          using errcode = 'invalid_parameter_value', hint = 'Write the name in its own script, such as http://мтр24.рф/.';
      end if;
    end if;
    names := names || '.' || name;
    labels := labels || uptuple.to_punycode(name);
  end loop;
  host := coalesce(array_to_string(labels, '.'), '');
  if host = '' or host ~ '\.\.|^\.|(^|\.)-' or length(host) > 253 or host ~ '[^.]{64}' then
    raise exception 'url % has a host with a label that is empty, too long, or starts with a hyphen', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Labels have 1 to 63 characters, a host up to 253.';
  end if;
  if names ~ right_to_left and (names || '.') !~ format('^(\.(%s[^.a-z]*|[^-0-9.][^.]*))+\.+$', right_to_left)
    or names ~ '\.[\u0300-\u036f]' or names ~ format('[a-z][^.]*%s|%s-(\.|$)', right_to_left, right_to_left)
  then
    raise exception 'url % has a host whose letters cannot stand beside each other', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'A label is written from left to right or from right to left, and begins with a letter.';
  end if;
  return coalesce(uptuple.ipv4_host(host), host);
end
$function$;

comment on function uptuple.canonical_host(text, text) is 'A host in its canonical spelling, or an error that quotes the URL and names the cure.';

revoke execute on function uptuple.canonical_host(text, text) from public;
