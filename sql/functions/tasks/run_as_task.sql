-- Run the statement that task_call made, as uptuple_task: this function belongs to that role, and that is its whole
-- point.
--
-- A definer function that was called by a definer function cannot change its role, so what runs here cannot become the
-- owner or the caller. Nothing that the function left behind may run later under the caller's role: deferred triggers
-- fire here and not at commit; a cursor WITH HOLD, whose query runs at commit, is closed; temporary tables go, which
-- fails if one has a trigger that deferred itself again; and settings are what they were when the session began. Called
-- by execute_task only. Where the role is missing, or the owner may not hand a function to it, it runs as the owner, who
-- may still call only what task_function allows.
create or replace function uptuple.run_as_task(call text, arguments jsonb, out row_count bigint, out value jsonb)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  -- @plpgsql_check_options: security_warnings = off, performance_warnings = off
  -- The text comes from task_call, which builds it from catalog names; nobody but the owner may call this.
  execute call into row_count, value using arguments;
  set constraints all immediate;
  execute 'close all';
  discard temporary;
  reset all;
end
$function$;

comment on function uptuple.run_as_task(text, jsonb) is
  'Runs a task''s function as the role uptuple_task. For execute_task.';

revoke execute on function uptuple.run_as_task(text, jsonb) from public;

do $give_to_uptuple_task$
declare
  acting constant name := current_user;
begin
  if to_regrole('uptuple_task') is null then
    raise notice 'the role uptuple_task is missing: tasks run as %', acting;
    return;
  end if;

  -- Only the role that connects may be able to make the owner a member.
  reset role;
  begin
    execute format('grant uptuple_task to %I', acting);
  exception when insufficient_privilege or invalid_grant_operation then
    raise notice '% may not make % a member of uptuple_task', current_user, acting;
  end;
  execute format('set local role %I', acting);

  if not pg_has_role(acting, 'uptuple_task', 'member') then
    raise warning '% is not a member of uptuple_task: tasks run as %. Have an administrator grant it, and migrate again.',
      acting, acting;
    return;
  end if;
  execute 'grant create on schema uptuple to uptuple_task';
  alter function uptuple.run_as_task(text, jsonb) owner to uptuple_task;
  execute 'revoke create on schema uptuple from uptuple_task';
  execute format('grant execute on function uptuple.run_as_task(text, jsonb) to %I', acting);
end
$give_to_uptuple_task$;
