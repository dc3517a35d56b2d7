-- One assertion as it is stored, or an error that says where it is wrong. See add_service for the language.
--
-- An assertion is an object with one subject. A header and a JSON path are named by the subject's value, and their operators stand beside
-- it; latency_ms, certificate_days and body have theirs within; status has ranges; any and all have assertions within, down to four
-- levels. Beside any subject: "otherwise", what the check is if the assertion does not hold, and "name". Calls itself. Reads nothing.
create or replace function uptuple.check_assertion(assertion jsonb, place text, subjects text[], depth integer)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  known constant text[] := '{status,header,body,json,latency_ms,certificate_days,any,all}';
  found_subjects constant text[] := case jsonb_typeof(assertion) when 'object' then
    array(select key from jsonb_object_keys(assertion) key where key = any (known) order by key) end;
  subject constant text := found_subjects[1];
  operators jsonb;
  member record;
begin
  if (cardinality(found_subjects) = 1) is not true then
    raise exception 'assertion % is %, and must be an object with one of %', place, left(coalesce(assertion::text, 'null'), 200), array_to_string(known, ', ')
      using errcode = 'invalid_parameter_value', hint = 'For example {"header": "content-type", "contains": "json"}.';
  end if;
  if subject <> all (subjects || '{any,all}') then
    raise exception 'assertion % looks at %, which this check does not have', place, subject
      using errcode = 'invalid_parameter_value', hint = format('It has %s.', array_to_string(subjects, ', '));
  end if;
  if assertion ? 'otherwise' and (depth > 1 or (assertion ->> 'otherwise' in ('DOWN', 'DEGRADED')) is not true) then
    raise exception 'assertion % has the otherwise %', place, left((assertion -> 'otherwise')::text, 100)
      using errcode = 'invalid_parameter_value', hint = 'It is "DOWN" or "DEGRADED", and only beside the outermost any or all.';
  end if;
  if assertion ? 'name' and (
    jsonb_typeof(assertion -> 'name') = 'string' and length(assertion ->> 'name') between 1 and 100 and assertion ->> 'name' !~ '[[:cntrl:]]'
  ) is not true then
    raise exception 'assertion % has a name that is no text of 1 to 100 characters', place
      using errcode = 'invalid_parameter_value', hint = 'For example "name": "the queue is short".';
  end if;

  if subject in ('any', 'all') then
    if (jsonb_typeof(assertion -> subject) = 'array' and jsonb_array_length(assertion -> subject) > 0 and depth < 4) is not true then
      raise exception 'assertion % has %, which needs a list of assertions, at most four levels deep', place, subject
        using errcode = 'invalid_parameter_value', hint = 'For example {"any": [{"status": 404}, {"body": {"contains": "ok"}}]}.';
    end if;
    assertion := jsonb_set(assertion, array[subject], (
      select jsonb_agg(uptuple.check_assertion(entry.value, place || '.' || entry.place, subjects, depth + 1) order by entry.place)
      from jsonb_array_elements(assertion -> subject) with ordinality entry (value, place)
    ));
    operators := assertion - array[subject, 'otherwise', 'name'];
  elsif subject = 'status' then
    assertion := jsonb_set(assertion, '{status}', to_jsonb(
      uptuple.status_text(uptuple.status_ranges(assertion ->> 'status', format('assertion %s', place)))
    ));
    operators := assertion - array[subject, 'otherwise', 'name'];
  elsif subject in ('header', 'json') then
    if (jsonb_typeof(assertion -> subject) = 'string') is not true then
      raise exception 'assertion % names no %', place, case subject when 'json' then 'path' else 'header' end
        using errcode = 'invalid_parameter_value',
              hint = 'For example {"header": "content-type", "contains": "json"} or {"json": "$.queue.depth", "<": 3}.';
    end if;
    if subject = 'json' then
      perform uptuple.check_json_path(assertion ->> 'json', place);
    elsif assertion ->> 'header' !~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]{1,200}$' then
      raise exception 'assertion % has %, which is not a header name', place, quote_literal(left(assertion ->> 'header', 200))
        using errcode = 'invalid_parameter_value', hint = 'Header names are letters, digits and hyphens.';
    else
      assertion := jsonb_set(assertion, '{header}', to_jsonb(lower(assertion ->> 'header')));
    end if;
    operators := assertion - array[subject, 'otherwise', 'name'];
  else
    if assertion - array[subject, 'otherwise', 'name'] <> '{}' then
      raise exception 'assertion % has % beside %', place,
          quote_literal((select min(key) from jsonb_object_keys(assertion - array[subject, 'otherwise', 'name']) key)), subject
        using errcode = 'invalid_parameter_value', hint = format('Its operators stand within: {"%s": {...}}.', subject);
    end if;
    operators := assertion -> subject;
  end if;

  if jsonb_typeof(operators) <> 'object' or (operators = '{}') <> (subject in ('any', 'all', 'status')) then
    raise exception 'assertion % has % for its operators', place, left(operators::text, 200)
      using errcode = 'invalid_parameter_value',
            hint = case
              when subject in ('any', 'all', 'status') then 'It takes none.'
              else format('Give one or more, such as %s.', case
                when subject = 'latency_ms' then '{"latency_ms": {"<": 800}}'
                when subject = 'certificate_days' then '{"certificate_days": {">=": 14}}'
                when subject = 'body' then '{"body": {"contains": "ok"}}'
                when subject = 'json' then '{"json": "$.queue.depth", "<": 3}'
                else '{"header": "content-type", "contains": "json"}'
              end)
            end;
  end if;
  for member in select key, value from jsonb_each(operators) loop
    perform uptuple.check_operator(place, subject, member.key, member.value);
  end loop;
  return assertion;
end
$function$;

comment on function uptuple.check_assertion(jsonb, text, text[], integer) is 'One assertion as it is stored, or an error that says where it is wrong and the cure.';

revoke execute on function uptuple.check_assertion(jsonb, text, text[], integer) from public;
