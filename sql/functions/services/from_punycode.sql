-- The name that a label after its xn-- encodes (RFC 3492), or null if it encodes none. Reads nothing. Called by canonical_host and
-- readable_host.
create or replace function uptuple.from_punycode(encoded text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  basic constant text := coalesce(substring(encoded from '^(.*)-[^-]*$'), '');
  digits constant text := regexp_replace(encoded, '^.*-', '');
  name text := basic;
  place integer := 1;
  code_point bigint := 128;
  written bigint := length(basic);
  spot bigint := 0;
  bias bigint := 72;
  spot_before bigint;
  weight bigint;
  step bigint;
  digit bigint;
  threshold bigint;
begin
  if digits = '' then
    return null;
  end if;
  while place <= length(digits) loop
    spot_before := spot;
    weight := 1;
    step := 36;
    loop
      digit := strpos('abcdefghijklmnopqrstuvwxyz0123456789', substr(digits, place, 1)) - 1;
      if place > length(digits) or digit < 0 or weight > 1000000000 then
        return null;
      end if;
      place := place + 1;
      spot := spot + digit * weight;
      threshold := greatest(1, least(26, step - bias));
      exit when digit < threshold;
      weight := weight * (36 - threshold);
      step := step + 36;
    end loop;

    written := written + 1;
    bias := uptuple.punycode_bias(spot - spot_before, written, spot_before = 0);
    code_point := code_point + spot / written;
    spot := mod(spot, written);
    if code_point not between 161 and 1114111 or code_point between 55296 and 57343 then
      return null;
    end if;
    name := overlay(name placing chr(code_point::integer) from spot::integer + 1 for 0);
    spot := spot + 1;
  end loop;
  return name;
exception when program_limit_exceeded or feature_not_supported then
  -- Characters that the encoding of this database does not have.
  return null;
end
$function$;

comment on function uptuple.from_punycode(text) is 'The name that a label of a host after its xn-- encodes; null if it encodes none.';

revoke execute on function uptuple.from_punycode(text) from public;
grant execute on function uptuple.from_punycode(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
