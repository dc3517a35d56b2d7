-- A label of a host name as it is sent: xn-- and its punycode (RFC 3492), or the label itself if it is ASCII. Reads nothing. Called by
-- canonical_host, which has mapped the label before.
create or replace function uptuple.to_punycode(label text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  alphabet constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
  code_points constant integer[] := array(select ascii(letter) from string_to_table(label, null) with ordinality entry (letter, place) order by place);
  basic constant text := regexp_replace(label, '[^\u0001-\u007f]', '', 'g');
  encoded text := basic || case when basic = '' then '' else '-' end;
  written bigint := length(basic);
  last bigint := 128;
  delta bigint := 0;
  bias bigint := 72;
  next_point integer;
  code_point integer;
  rest bigint;
  step bigint;
  threshold bigint;
begin
  if basic = label then
    return label;
  end if;
  while written < cardinality(code_points) loop
    select min(point) into next_point from unnest(code_points) point where point >= last;
    delta := delta + (next_point - last) * (written + 1);
    last := next_point;
    foreach code_point in array code_points loop
      if code_point < last then
        delta := delta + 1;
      elsif code_point = last then
        rest := delta;
        step := 36;
        loop
          threshold := greatest(1, least(26, step - bias));
          exit when rest < threshold;
          encoded := encoded || substr(alphabet, (threshold + mod(rest - threshold, 36 - threshold))::integer + 1, 1);
          rest := (rest - threshold) / (36 - threshold);
          step := step + 36;
        end loop;
        encoded := encoded || substr(alphabet, rest::integer + 1, 1);
        bias := uptuple.punycode_bias(delta, written + 1, written = length(basic));
        delta := 0;
        written := written + 1;
      end if;
    end loop;
    delta := delta + 1;
    last := last + 1;
  end loop;
  return 'xn--' || encoded;
end
$function$;

comment on function uptuple.to_punycode(text) is 'A label of a host name as it is sent: its punycode, or itself if it is ASCII.';

revoke execute on function uptuple.to_punycode(text) from public;
