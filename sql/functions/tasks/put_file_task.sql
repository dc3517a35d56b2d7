-- Write a row that read_task_entry made: ADDED, CHANGED, or UNCHANGED where the row that is there says the same. Part
-- of apply_tasks, which lets one caller at a time through. Writes task; the trigger there fills in defaults and refuses
-- what breaks a rule.
create or replace function uptuple.put_file_task(wanted uptuple.task)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  bookkeeping constant text[] := array['id', 'created_at', 'created_by', 'changed_at', 'changed_by'];
  inserted boolean;
begin
  insert into uptuple.task as present (
    name, source, group_name, kind, cron, interval_ms, initial_delay_ms, time_zone, function, arguments, enabled,
    description, lock_name, lock_at_most_ms, lock_at_least_ms, statement_timeout_ms, miss_policy, miss_within_ms,
    miss_limit
  )
  values (
    wanted.name, wanted.source, wanted.group_name, wanted.kind, wanted.cron, wanted.interval_ms,
    wanted.initial_delay_ms, wanted.time_zone, wanted.function, wanted.arguments, wanted.enabled, wanted.description,
    wanted.lock_name, wanted.lock_at_most_ms, wanted.lock_at_least_ms, wanted.statement_timeout_ms,
    wanted.miss_policy, wanted.miss_within_ms, wanted.miss_limit
  )
  on conflict (name, source) where removed_at is null do update
    set group_name = excluded.group_name,
        kind = excluded.kind,
        cron = excluded.cron,
        interval_ms = excluded.interval_ms,
        initial_delay_ms = excluded.initial_delay_ms,
        time_zone = excluded.time_zone,
        function = excluded.function,
        arguments = excluded.arguments,
        enabled = excluded.enabled,
        description = excluded.description,
        lock_name = excluded.lock_name,
        lock_at_most_ms = excluded.lock_at_most_ms,
        lock_at_least_ms = excluded.lock_at_least_ms,
        statement_timeout_ms = excluded.statement_timeout_ms,
        miss_policy = excluded.miss_policy,
        miss_within_ms = excluded.miss_within_ms,
        miss_limit = excluded.miss_limit
    where to_jsonb(present) - bookkeeping is distinct from to_jsonb(excluded) - bookkeeping
  returning present.xmax = 0 into inserted;
  return case inserted when true then 'ADDED' when false then 'CHANGED' else 'UNCHANGED' end;
end
$function$;

comment on function uptuple.put_file_task(uptuple.task) is 'Writes a task of the tasks file. Part of apply_tasks.';

revoke execute on function uptuple.put_file_task(uptuple.task) from public;
