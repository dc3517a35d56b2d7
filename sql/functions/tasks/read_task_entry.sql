-- A task of the tasks file as a row of uptuple.task; an error that names the member if one is unknown or of the wrong
-- kind. What is left out is null, and gets its default where it is written. Called by apply_tasks.
create or replace function uptuple.read_task_entry(entry jsonb, group_name text, group_enabled boolean)
returns uptuple.task
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  task uptuple.task;
begin
  perform uptuple.check_members('the task', entry, array[
    'name', 'kind', 'cron', 'interval_ms', 'initial_delay_ms', 'time_zone', 'function', 'arguments', 'enabled', 'description',
    'lock_name', 'lock_at_most_ms', 'lock_at_least_ms', 'statement_timeout_ms', 'miss_policy', 'miss_within_ms', 'miss_limit'
  ]);
  task.name := uptuple.json_member(entry, 'name', 'string');
  task.source := 'file';
  task.group_name := read_task_entry.group_name;
  task.kind := uptuple.json_member(entry, 'kind', 'string');
  task.cron := uptuple.json_member(entry, 'cron', 'string');
  task.interval_ms := uptuple.json_member(entry, 'interval_ms', 'duration')::bigint;
  task.initial_delay_ms := uptuple.json_member(entry, 'initial_delay_ms', 'duration')::bigint;
  task.time_zone := uptuple.json_member(entry, 'time_zone', 'string');
  task.function := uptuple.json_member(entry, 'function', 'string');
  task.arguments := nullif(entry -> 'arguments', 'null'::jsonb);
  task.enabled := group_enabled and coalesce(uptuple.json_member(entry, 'enabled', 'boolean')::boolean, true);
  task.description := uptuple.json_member(entry, 'description', 'string');
  task.lock_name := uptuple.json_member(entry, 'lock_name', 'string');
  task.lock_at_most_ms := uptuple.json_member(entry, 'lock_at_most_ms', 'duration')::bigint;
  task.lock_at_least_ms := uptuple.json_member(entry, 'lock_at_least_ms', 'duration')::bigint;
  task.statement_timeout_ms := uptuple.json_member(entry, 'statement_timeout_ms', 'duration')::bigint;
  task.miss_policy := uptuple.json_member(entry, 'miss_policy', 'string');
  task.miss_within_ms := uptuple.json_member(entry, 'miss_within_ms', 'duration')::bigint;
  task.miss_limit := uptuple.json_member(entry, 'miss_limit', 'count')::integer;
  return task;
end
$function$;

comment on function uptuple.read_task_entry(jsonb, text, boolean) is
  'A task of the tasks file as a row of uptuple.task.';

revoke execute on function uptuple.read_task_entry(jsonb, text, boolean) from public;
