-- Expected statuses as a person writes them, '200-299, 401', as a multirange that one operator answers.
--
-- Called when a service is written, so that a check only asks whether the range contains its status. Reads nothing.
create or replace function uptuple.status_ranges(expected_statuses text, argument text default 'expected_statuses')
returns int4multirange
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  part text;
  bounds integer[];
  ranges int4multirange := int4multirange();
begin
  foreach part in array string_to_array(coalesce(expected_statuses, ''), ',') loop
    bounds := regexp_match(btrim(part), '^([1-5][0-9]{2})(?:\s*-\s*([1-5][0-9]{2}))?$');
    if bounds is null or bounds[1] > coalesce(bounds[2], bounds[1]) then
      raise exception '% has %, which is neither a status nor a range', argument, quote_literal(left(btrim(part), 100))
        using errcode = 'invalid_parameter_value', hint = 'Write statuses from 100 to 599, such as ''200-299, 401''.';
    end if;
    ranges := ranges + int4multirange(int4range(bounds[1], coalesce(bounds[2], bounds[1]), '[]'));
  end loop;
  if isempty(ranges) then
    raise exception '% is empty, so no answer could ever be right', argument
      using errcode = 'invalid_parameter_value', hint = 'Write statuses from 100 to 599, such as ''200-299, 401''.';
  end if;
  return ranges;
end
$function$;

comment on function uptuple.status_ranges(text, text) is 'Expected statuses such as ''200-299, 401'' as a multirange.';

revoke execute on function uptuple.status_ranges(text, text) from public;
grant execute on function uptuple.status_ranges(text, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
