-- How large a pattern is when its counted repetitions are written out: (a{10}b){3} is 33. Roughly, and never too little. Reads nothing;
-- called by check_pattern.
create or replace function uptuple.pattern_size(pattern text)
returns numeric
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  outer_sizes numeric[] := '{}';
  size numeric := 0;
  -- Of what a repetition would repeat: the last character, class or group.
  last numeric := 0;
  bounds text[];
  rest text := pattern;
  token text;
begin
  while rest <> '' loop
    -- An escape, a class, a repetition, or one character.
    token := substring(rest from '^(\\.|\[\^?\]?(?:\[[:.=][^]]*[:.=]\]|[^]\\]|\\.)*\]|\{[0-9]+(?:,[0-9]*)?\}|.)');
    token := coalesce(token, left(rest, 1));
    rest := substr(rest, length(token) + 1);
    bounds := regexp_match(token, '^\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}$');
    if bounds is not null then
      size := size - last;
      last := last * greatest(1, bounds[1]::numeric, coalesce(nullif(bounds[2], ''), '0')::numeric);
      size := size + last;
    elsif token = '(' then
      outer_sizes := outer_sizes || size;
      size := 0;
      last := 0;
    elsif token = ')' and cardinality(outer_sizes) > 0 then
      last := size;
      size := outer_sizes[cardinality(outer_sizes)] + last;
      outer_sizes := trim_array(outer_sizes, 1);
    elsif token not in ('*', '+', '?') then
      last := 1;
      size := size + 1;
    end if;
  end loop;
  return size;
end
$function$;

comment on function uptuple.pattern_size(text) is 'How large a pattern is when its counted repetitions are written out.';

revoke execute on function uptuple.pattern_size(text) from public;
