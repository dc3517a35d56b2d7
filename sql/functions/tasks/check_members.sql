-- Refuses what is not an object, and a member that is not in the list: a misspelt one would else be a default in
-- silence. Called by apply_tasks and read_task_entry.
create or replace function uptuple.check_members(what text, entry jsonb, allowed text[])
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  unknown text;
begin
  if jsonb_typeof(entry) is distinct from 'object' then
    raise exception '% is %, and must be an object', what, coalesce(left(entry::text, 100), 'absent')
      using errcode = 'invalid_parameter_value';
  end if;
  select key into unknown from jsonb_object_keys(entry) key where key <> all (allowed) order by key limit 1;
  if unknown is not null then
    raise exception '% has no member "%"', what, left(unknown, 100)
      using errcode = 'invalid_parameter_value', hint = format('It may have %s.', array_to_string(allowed, ', '));
  end if;
end
$function$;

comment on function uptuple.check_members(text, jsonb, text[]) is
  'Refuses what is not an object, and members that are not in the list.';

revoke execute on function uptuple.check_members(text, jsonb, text[]) from public;
