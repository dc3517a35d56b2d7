-- Say whose tasks are in force: those of the file, of the database, or of both, where the database's row wins over the
-- file's entry of the same name. What ships is always in force below them. Takes effect at the next tick of every
-- runtime. Writes task_setting.
create or replace function uptuple.use_tasks_from(source text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  if (source in ('file', 'database', 'both')) is not true then
    raise exception 'source is %, and must be file, database or both', coalesce(quote_literal(source), 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  update uptuple.task_setting setting set source = source;
end
$function$;

comment on function uptuple.use_tasks_from(text) is
  'Say whose tasks are in force: file, database, or both (as it is at first; of one name the database''s row wins).';

revoke execute on function uptuple.use_tasks_from(text) from public;
grant execute on function uptuple.use_tasks_from(text) to uptuple_operator;
