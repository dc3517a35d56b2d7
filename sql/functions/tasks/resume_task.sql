-- Let a paused task fire again, from the next fire on: true, or false if it was not paused. Nothing of the pause is
-- made up. The next claim_task of any runtime reckons the fire. Writes task_mark. For people.
create or replace function uptuple.resume_task(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  perform uptuple.known_task(name);
  update uptuple.task_mark mark
     set paused_at = null, paused_by = null
   where mark.task = name and mark.paused_at is not null;
  return found;
end
$function$;

comment on function uptuple.resume_task(text) is 'Let a paused task fire again. False if it was not paused.';

revoke execute on function uptuple.resume_task(text) from public;
grant execute on function uptuple.resume_task(text) to uptuple_operator;
