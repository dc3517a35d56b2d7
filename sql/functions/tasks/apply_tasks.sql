-- Make the file's tasks those of a document: what is new is added, what differs changed, what is gone removed. All of
-- it or nothing.
--
-- Refused with an error that names entry and fault (the detail has all faults, not only the first); the old tasks go
-- on. A version lower than the one applied is IGNORED, the same with the same content is UNCHANGED, and the same with
-- other content is refused, so that two deployments do not flip-flop. Race, two runtimes apply at once: the setting's
-- row lock orders them, and the second finds the version there. Rows of the database are not touched; those that win
-- over an entry are named as shadowed. Writes task, task_mark and task_setting.
create or replace function uptuple.apply_tasks(document jsonb)
returns table (outcome text, version bigint, added text[], changed text[], removed text[], shadowed text[])
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  setting uptuple.task_setting;
  content constant text := encode(sha256(convert_to(document::text, 'UTF8')), 'hex');
  number bigint;
  entry record;
  task uptuple.task;
  wanted text[] := array[]::text[];
  change text;
  reason text;
  cure text;
  first_cure text;
  faults text[] := array[]::text[];
begin
  perform uptuple.check_members('the tasks file', document, array['$schema', 'version', 'enabled', 'groups']);
  number := uptuple.json_member(document, 'version', 'integer')::bigint;
  if (number > 0) is not true then
    raise exception 'the tasks file has version %, and must have a whole number from 1', coalesce(number::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'Raise it with each change of the file.';
  end if;

  select one.* into setting from uptuple.task_setting one for update;
  version := number;
  added := array[]::text[];
  changed := array[]::text[];
  removed := array[]::text[];
  shadowed := array[]::text[];
  if number < setting.file_version then
    outcome := 'IGNORED';
    return next;
    return;
  elsif number = setting.file_version and content = setting.file_sha256 then
    outcome := 'UNCHANGED';
    return next;
    return;
  elsif number = setting.file_version then
    raise exception 'the tasks file has version %, as the one applied at % has, and says something else',
        number, setting.file_applied_at
      using errcode = 'UT002',
            hint = 'Raise its version. If you did not change it, another deployment has another file.';
  end if;

  for entry in
    select * from uptuple.task_entries(document)
  loop
    begin
      if entry.fault is not null then
        raise exception '%', entry.fault using errcode = 'invalid_parameter_value', hint = entry.cure;
      end if;
      task := uptuple.read_task_entry(entry.task, entry.group_name, entry.enabled);
      if task.name = any (wanted) then
        raise exception 'there is another task of that name in the file' using errcode = 'invalid_parameter_value';
      end if;
      wanted := wanted || task.name;
      change := uptuple.put_file_task(task);
      if change = 'ADDED' then
        added := added || task.name;
      elsif change = 'CHANGED' then
        changed := changed || task.name;
      end if;
    exception when invalid_parameter_value or sqlstate 'UT001' or sqlstate 'UT002' then
      get stacked diagnostics reason = message_text, cure = pg_exception_hint;
      faults := faults || format('%s: %s', entry.path, reason);
      first_cure := coalesce(first_cure, cure);
    end;
  end loop;
  if cardinality(faults) > 0 then
    raise exception 'the tasks file is refused, and the old tasks go on: %', faults[1]
      using errcode = 'invalid_parameter_value',
            detail = array_to_string(faults, E'\n'),
            hint = coalesce(first_cure, '');
  end if;

  with gone as (
    update uptuple.task present
       set removed_at = clock_timestamp()
     where present.source = 'file' and present.removed_at is null and present.name <> all (wanted)
    returning present.name
  )
  select coalesce(array_agg(gone.name order by gone.name), '{}') into removed from gone;
  shadowed := array(
    select present.name
      from uptuple.task present
     where present.source = 'database' and present.removed_at is null and present.name = any (wanted)
     order by present.name
  );
  update uptuple.task_setting
     set file_version = number,
         file_sha256 = content,
         file_applied_at = clock_timestamp(),
         file_applied_by = session_user;
  outcome := 'APPLIED';
  return next;
end
$function$;

comment on function uptuple.apply_tasks(jsonb) is
  'Make the file''s tasks those of a document {"version": 1, "groups": [{"name": "...", "tasks": [{...}]}]}: all of '
  'it or nothing. outcome: APPLIED, '
  'UNCHANGED (same version, same content) or IGNORED (lower version). shadowed: names whose row in the table wins.';

revoke execute on function uptuple.apply_tasks(jsonb) from public;
grant execute on function uptuple.apply_tasks(jsonb) to uptuple_worker, uptuple_operator;
