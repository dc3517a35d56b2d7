-- One term of one cron field as a mask: bit n stands for the value low + n. A term is `*`, a number or a name, a range,
-- each with an optional step; `a/n` means from a to the end of the field. In a range a Sunday that begins it is 0 and
-- one that ends it is 7. Errors name the field, the term and what is allowed. `term` is upper case. Called by
-- cron_parse for each term.
create or replace function uptuple.cron_values(
  expression text,
  field text,
  term text,
  low integer,
  high integer,
  star_low integer,
  star_high integer,
  names text
)
returns bit varying
language plpgsql
immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
declare
  mask bit varying := repeat('0', high - low + 1)::bit varying;
  parts text[] := regexp_match(term, '^(\*|[0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?(?:/([0-9]{1,4}))?$');
  bounds integer[] := array[]::integer[];
  fault text;
begin
  if parts is null or (parts[1] = '*' and parts[2] is not null) then
    fault := format('"%s" is not a value, a range or a step', term);
  elsif parts[3]::integer = 0 then
    fault := format('the step in "%s" is 0', term);
  elsif parts[1] = '*' then
    bounds := array[star_low, star_high];
  else
    for side in 1..2 loop
      continue when parts[side] is null;
      if parts[side] ~ '^[0-9]' then
        bounds[side] := parts[side]::integer;
      elsif position(parts[side] in names) % 3 = 1 then
        bounds[side] := position(parts[side] in names) / 3 + case when field = 'month' then 1 else 0 end;
      end if;
      if (bounds[side] between low and high) is not true then
        fault := format('"%s" is not one of its values', parts[side]);
      end if;
    end loop;
    if parts[2] is null then
      bounds[2] := case when parts[3] is null then bounds[1] else high end;
    elsif field = 'day-of-week' then
      bounds[1] := bounds[1] % 7;
      bounds[2] := case when parts[2] = 'SUN' and bounds[1] > 0 then 7 else bounds[2] end;
    end if;
    if fault is null and bounds[2] < bounds[1] then
      fault := format('the range "%s" runs backwards', term);
    end if;
  end if;

  if fault is not null then
    raise exception 'cron field %: %; allowed are %', field, fault, low || '-' || high ||
        case when names = '' then '' else format(' and the names %s to %s', left(names, 3), right(names, 3)) end
      using errcode = 'invalid_parameter_value',
            detail = format('The expression is "%s".', expression),
            hint = format('Write *, a value, a range such as %s-%s, a step such as */2 or %s-%s/2 (1 or more), '
                     'or a list of these with commas.', low, low + 3, low, high)
              || case field
                   when 'day-of-month' then
                     ' Also ?, L, L-3 (three days before the last), LW (last weekday) and 15W (weekday nearest to the 15th).'
                   when 'day-of-week' then ' Also ?, MON#2 (second Monday) and FRIL (last Friday).'
                   else ''
                 end;
  end if;

  for value in bounds[1]..bounds[2] by coalesce(parts[3]::integer, 1) loop
    mask := set_bit(mask, value - low, 1);
  end loop;
  return mask;
end
$function$;

comment on function uptuple.cron_values(text, text, text, integer, integer, integer, integer, text) is
  'One term of one cron field as a bit mask. Part of cron_parse.';

revoke execute on function uptuple.cron_values(text, text, text, integer, integer, integer, integer, text) from public;
