-- The statement that calls a task's function with its arguments as $1, for run_as_task; an error if the arguments do
-- not fit.
--
-- Names and number are checked here. Types are converted where the statement runs, under the task's role, since a
-- type's own checks are somebody's code. Called by check_task when a task is written, and by execute_task when it runs.
create or replace function uptuple.task_call(function text, arguments jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  identity constant regprocedure := uptuple.task_function(function);
  takes constant text := format('It takes (%s).', pg_get_function_arguments(identity));
  by_position constant boolean := jsonb_typeof(arguments) = 'array';
  called pg_proc;
  given text[];
  parameter record;
  columns text[] := array[]::text[];
  passed text[] := array[]::text[];
  record_source text := '$1';
  call text;
begin
  if jsonb_typeof(arguments) = 'object' then
    given := array(select key from jsonb_object_keys(arguments) key order by key);
  elsif by_position then
    given := array(select '#' || number from generate_series(1, jsonb_array_length(arguments)) number);
  else
    raise exception 'arguments is %, and must be an object of names and values, or an array',
        coalesce(left(arguments::text, 200), 'null')
      using errcode = 'invalid_parameter_value', hint = 'For example {"keep": "30 days"}, or [30].';
  end if;

  select proc.* into called from pg_catalog.pg_proc proc where proc.oid = identity;
  for parameter in
    select
      row_number() over (order by described.position) as number,
      described.name,
      described.type::regtype,
      described.mode = 'v' or type.typtype = 'p' as beyond_json
    from unnest(
      coalesce(called.proallargtypes, called.proargtypes::oid[]),
      called.proargnames,
      called.proargmodes
    ) with ordinality as described (type, name, mode, position)
    join pg_catalog.pg_type type on type.oid = described.type
    where coalesce(described.mode, 'i') in ('i', 'b', 'v')
    order by described.position
  loop
    parameter.name := case when by_position then '#' || parameter.number else parameter.name end;
    if parameter.name = any (given) then
      if parameter.beyond_json then
        raise exception 'the argument % of % is of a type that JSON cannot give', parameter.name, identity
          using errcode = 'invalid_parameter_value', hint = takes;
      end if;
      columns := columns || format('%I %s', parameter.name, format_type(parameter.type, null));
      passed := passed || format(case when by_position then 'given.%1$I' else '%1$I => given.%1$I' end, parameter.name);
      given := array_remove(given, parameter.name);
    elsif parameter.number <= called.pronargs - called.pronargdefaults then
      raise exception 'the argument % of % is missing',
          coalesce(nullif(parameter.name, ''), '#' || parameter.number), identity
        using errcode = 'invalid_parameter_value', hint = takes;
    end if;
  end loop;
  if cardinality(given) > 0 then
    raise exception '% has no argument %', identity, given[1] using errcode = 'invalid_parameter_value', hint = takes;
  end if;

  if by_position then
    record_source :=
      '(select jsonb_object_agg(''#'' || number, item)'
      ' from jsonb_array_elements($1) with ordinality as element (item, number))';
  end if;
  call := format('%I.%I(%s)', called.pronamespace::regnamespace, called.proname, array_to_string(passed, ', '));
  call := case
    when called.proretset then format('select count(*), null::jsonb from (select %s', call)
    when called.prorettype = 'void'::regtype then format('select null::bigint, nullif(to_jsonb(%s), ''""'')', call)
    else format('select null::bigint, to_jsonb(%s)', call)
  end;
  if cardinality(columns) > 0 then
    call := call || format(' from jsonb_to_record(%s) as given (%s)', record_source, array_to_string(columns, ', '));
  end if;
  return call || case when called.proretset then ' offset 0) as returned' else '' end;
end
$function$;

comment on function uptuple.task_call(text, jsonb) is
  'The statement that calls a task''s function; an error if tasks may not call it, or if the arguments do not fit.';

revoke execute on function uptuple.task_call(text, jsonb) from public;
