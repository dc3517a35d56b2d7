-- Whether what follows xn-- in a label decodes to characters that a name can have (RFC 3492). Reads nothing. Called by canonical_host.
create or replace function uptuple.is_punycode(encoded text)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  basic constant integer := coalesce(length(substring(encoded from '^(.*)-[^-]*$')), 0);
  digits constant text := regexp_replace(encoded, '^.*-', '');
  place integer := 1;
  code_point bigint := 128;
  written bigint := basic;
  spot bigint := 0;
  bias bigint := 72;
  spot_before bigint;
  weight bigint;
  step bigint;
  digit bigint;
  threshold bigint;
  delta bigint;
begin
  if digits = '' then
    return false;
  end if;
  while place <= length(digits) loop
    spot_before := spot;
    weight := 1;
    step := 36;
    loop
      digit := strpos('abcdefghijklmnopqrstuvwxyz0123456789', substr(digits, place, 1)) - 1;
      if place > length(digits) or digit < 0 or weight > 1000000000 then
        return false;
      end if;
      place := place + 1;
      spot := spot + digit * weight;
      threshold := greatest(1, least(26, step - bias));
      exit when digit < threshold;
      weight := weight * (36 - threshold);
      step := step + 36;
    end loop;

    written := written + 1;
    delta := (spot - spot_before) / case when spot_before = 0 then 700 else 2 end;
    delta := delta + delta / written;
    bias := 0;
    while delta > 455 loop
      delta := delta / 35;
      bias := bias + 36;
    end loop;
    bias := bias + 36 * delta / (delta + 38);

    code_point := code_point + spot / written;
    spot := mod(spot, written) + 1;
    if code_point not between 161 and 1114111 or code_point between 55296 and 57343 then
      return false;
    end if;
  end loop;
  return true;
end
$function$;

comment on function uptuple.is_punycode(text) is 'Whether what follows xn-- in a label of a host name encodes a name.';

revoke execute on function uptuple.is_punycode(text) from public;
