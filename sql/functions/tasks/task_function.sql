-- The function that a task names, or an error that says why tasks may not call it.
--
-- Only a function that was granted to uptuple_task by name may be called: what everybody may execute is not on the
-- list, so that a row in a table is not a way to run anything. Where the role is missing, the owner's own grants are
-- the list. Called by task_call, when a task is written and again when it runs.
create or replace function uptuple.task_function(function text)
returns regprocedure
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  task_role constant regrole := coalesce(to_regrole('uptuple_task'), current_user::regrole);
  written constant text := btrim(function);
  parts text[];
  candidates oid[];
  called pg_proc;
begin
  begin
    parts := parse_ident(split_part(written, '(', 1));
    if position('(' in written) > 0 and cardinality(parts) = 2 then
      candidates := array[written::regprocedure::oid];
    else
      candidates := array(
        select proc.oid
          from pg_catalog.pg_proc proc
          join pg_catalog.pg_namespace namespace on namespace.oid = proc.pronamespace
         where namespace.nspname = parts[1] and proc.proname = parts[2]
         order by proc.oid
      );
    end if;
  exception
    when invalid_parameter_value or invalid_text_representation or syntax_error or undefined_function or undefined_object
      or undefined_table or invalid_schema_name or invalid_name or too_many_arguments
    then
      candidates := '{}';
  end;

  if cardinality(parts) is distinct from 2 then
    raise exception 'function is %, and must be a name with its schema',
        coalesce(quote_literal(left(written, 200)), 'null')
      using errcode = 'invalid_parameter_value',
            hint = 'For example reports.nightly, or reports.nightly(integer, text) where there are several.';
  elsif cardinality(candidates) = 0 then
    raise exception 'there is no function %', left(written, 200)
      using errcode = 'UT001',
            hint = 'Create it first. Schema and name are taken in lower case unless they are quoted.';
  elsif cardinality(candidates) > 1 then
    raise exception 'there are several functions %', written
      using errcode = 'invalid_parameter_value',
            hint = format('Write the types of its arguments too, for example %s.', candidates[1]::regprocedure);
  end if;

  select proc.* into called from pg_catalog.pg_proc proc where proc.oid = candidates[1];
  if called.prokind <> 'f' or called.prorettype in ('trigger'::regtype, 'event_trigger'::regtype) then
    raise exception '% cannot be called with select', called.oid::regprocedure
      using errcode = 'invalid_parameter_value',
            hint = 'Procedures, aggregates, window functions and trigger functions cannot be tasks.';
  elsif not exists (
    select from aclexplode(called.proacl) entry where entry.grantee = task_role and entry.privilege_type = 'EXECUTE'
  ) then
    raise exception 'tasks may not call %', called.oid::regprocedure
      using errcode = 'UT002',
            hint = format('Allow it: grant execute on function %s to %s;', called.oid::regprocedure, task_role);
  elsif not has_schema_privilege(task_role::oid, called.pronamespace, 'usage') then
    raise exception 'tasks may not use the schema of %', called.oid::regprocedure
      using errcode = 'UT002',
            hint = format('Allow it: grant usage on schema %s to %s;', called.pronamespace::regnamespace, task_role);
  end if;
  return called.oid::regprocedure;
end
$function$;

comment on function uptuple.task_function(text) is
  'The function that a task names; an error if there is none, or if it was not granted to uptuple_task.';

revoke execute on function uptuple.task_function(text) from public;
