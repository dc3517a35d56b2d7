-- A host that every URL parser reads as an IPv4 address, in its dotted form; null if it is a name, an error if it is neither.
--
-- A host whose last label is a number is an address (WHATWG URL, 3.5): 0177.0.0.1, 2130706433, 0x7f.1 and 127.1 are all 127.0.0.1, and
-- nobody who reads the list of services should have to work that out. Reads nothing. Called by canonical_host and
-- dns_resolver.
create or replace function uptuple.ipv4_host(host text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  parts constant text[] := string_to_array(regexp_replace(lower(host), '\.$', ''), '.');
  last constant integer := cardinality(parts);
  digits text;
  base integer;
  value numeric;
  address numeric := 0;
begin
  if parts[last] !~ '^([0-9]+|0x[0-9a-f]*)$' then
    return null;
  end if;

  for position in 1 .. last loop
    base := case when parts[position] ~ '^0x' then 16 when parts[position] ~ '^0' then 8 else 10 end;
    digits := regexp_replace(parts[position], '^0x', '');
    if last > 4 or length(parts[position]) > 20 or digits !~ (case base when 16 then '^[0-9a-f]*$' when 8 then '^[0-7]+$' else '^[0-9]+$' end) then
      raise exception '% is not an IPv4 address', quote_literal(host)
        using errcode = 'invalid_parameter_value', hint = 'Write it as four numbers from 0 to 255, such as 127.0.0.1.';
    end if;

    value := 0;
    for place in 1 .. length(digits) loop
      value := value * base + strpos('0123456789abcdef', substr(digits, place, 1)) - 1;
    end loop;
    -- The last number fills all the bytes that are left.
    if value >= (case when position < last then 256 else 256 ^ (5 - last) end) then
      raise exception '% is not an IPv4 address', quote_literal(host)
        using errcode = 'invalid_parameter_value', hint = 'Write it as four numbers from 0 to 255, such as 127.0.0.1.';
    end if;
    address := address + value * case when position < last then 256::numeric ^ (4 - position) else 1 end;
  end loop;

  return pg_catalog.host(inet '0.0.0.0' + address::bigint);
end
$function$;

comment on function uptuple.ipv4_host(text) is
  'The dotted form of a host that is an IPv4 address in any spelling (''2130706433'' is 127.0.0.1); null if it is a name.';

revoke execute on function uptuple.ipv4_host(text) from public;
