-- Trigger on uptuple.task: holds each row against the rules when it is written, by whomever. As the owner, since the
-- rules look into tables that a person who may write tasks may not see. The rules are in check_task.
create or replace function uptuple.task_written()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  new := uptuple.check_task(new, old);
  return new;
end
$function$;

comment on function uptuple.task_written() is 'Trigger: validates each row of uptuple.task when it is written.';

revoke execute on function uptuple.task_written() from public;

create or replace trigger task_written
before insert or update on uptuple.task
for each row execute function uptuple.task_written();
