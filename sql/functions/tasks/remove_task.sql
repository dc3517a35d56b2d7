-- Remove a task's row of the table: softly, its runs stay. Where the file or the program has one of the same name, that
-- is in force again. What ships can be removed likewise and does not come back; what the file has is removed in the
-- file. A run that has begun goes on. Writes task.
create or replace function uptuple.remove_task(name text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  update uptuple.task
     set removed_at = clock_timestamp()
   where id = (
     select one.id
       from uptuple.task one
      where one.name = name and one.removed_at is null and one.source <> 'file'
      order by one.source = 'builtin'
      limit 1
   );
  if found then
    return;
  elsif exists (select from uptuple.task one where one.name = name and one.removed_at is null) then
    raise exception 'the task % is in the tasks file', quote_literal(name)
      using errcode = 'UT002',
            hint = 'Remove it there and raise the file''s version; or insert a row of the same name with enabled false.';
  end if;
  raise exception 'there is no task named %', coalesce(quote_literal(name), 'null')
    using errcode = 'UT001', hint = 'select name from uptuple.tasks order by name;';
end
$function$;

comment on function uptuple.remove_task(text) is
  'Remove a task that was made in the table, or one that ships. A task of the same name from the file, if there is '
  'one, is in force again.';

revoke execute on function uptuple.remove_task(text) from public;
grant execute on function uptuple.remove_task(text) to uptuple_operator;
