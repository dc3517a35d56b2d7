-- The tasks of a tasks file, each with the path that names it to a person, its group, and whether file and group are
-- enabled; a group or a list that is not what it should be is a row with a fault and its cure. Called by apply_tasks.
create or replace function uptuple.task_entries(document jsonb)
returns table (path text, group_name text, enabled boolean, task jsonb, fault text, cure text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  file_enabled constant boolean := coalesce(uptuple.json_member(document, 'enabled', 'boolean')::boolean, true);
  groups constant jsonb := document -> 'groups';
  members jsonb;
begin
  if jsonb_typeof(groups) is distinct from 'array' then
    raise exception 'groups is %, and must be a list', coalesce(left(groups::text, 100), 'absent')
      using errcode = 'invalid_parameter_value';
  end if;

  for group_at in 0..jsonb_array_length(groups) - 1 loop
    path := format('groups[%s]', group_at);
    group_name := null;
    task := null;
    fault := null;
    begin
      perform uptuple.check_members('the group', groups -> group_at, array['name', 'enabled', 'tasks']);
      group_name := uptuple.json_member(groups -> group_at, 'name', 'string');
      perform uptuple.check_name('name', group_name);
      enabled := file_enabled and coalesce(uptuple.json_member(groups -> group_at, 'enabled', 'boolean')::boolean, true);
      members := groups -> group_at -> 'tasks';
      if jsonb_typeof(members) is distinct from 'array' then
        raise exception 'tasks is %, and must be a list', coalesce(left(members::text, 100), 'absent')
          using errcode = 'invalid_parameter_value';
      end if;
    exception when invalid_parameter_value then
      get stacked diagnostics fault = message_text, cure = pg_exception_hint;
      return next;
      continue;
    end;

    for task_at in 0..jsonb_array_length(members) - 1 loop
      task := members -> task_at;
      path := format('groups[%s].tasks[%s]', group_at, task_at);
      if jsonb_typeof(task -> 'name') = 'string' then
        path := path || format(' "%s"', left(task ->> 'name', 200));
      end if;
      return next;
    end loop;
  end loop;
end
$function$;

comment on function uptuple.task_entries(jsonb) is
  'The tasks of a tasks file with their paths and groups. Part of apply_tasks.';

revoke execute on function uptuple.task_entries(jsonb) from public;
