-- The tasks that ship with the program: each is inserted once, and from then on is a row like any other. One that a
-- person changed stays changed, one that a person removed stays removed. Called by every runtime when it starts. Writes
-- task and task_mark.
create or replace function uptuple.ensure_builtin_tasks()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  insert into uptuple.task (
    name, source, group_name, kind, cron, function, arguments, lock_at_most_ms, statement_timeout_ms, description
  )
  select
    shipped.name, 'builtin', 'uptuple', 'CRON', shipped.cron, shipped.function, shipped.arguments::jsonb,
    shipped.lock_at_most_ms, shipped.statement_timeout_ms, shipped.description
  from (
    values
      ('uptuple.sweep', '* * * * *', 'uptuple.sweep', '{}', 60000, 50000,
       'Ends jobs and notices whose last lease ran out and windows that nobody claimed, and forgets runtimes long gone.'),
      ('uptuple.ensure_partitions', '7 * * * *', 'uptuple.ensure_partitions', '{}', 300000, 120000,
       'Makes the daily partitions of jobs and results, a week ahead.'),
      ('uptuple.roll_up', '* * * * *', 'uptuple.roll_up', '{}', 120000, 60000,
       'Adds up the hours and days that are over, for pages and reports.'),
      ('uptuple.apply_retention', '27 * * * *', 'uptuple.apply_retention', '{}', 600000, 300000,
       'Lets go of what is older than set_retention says: partitions, roll-ups, notices that were sent or discarded.'),
      ('uptuple.extend_maintenance', '47 * * * *', 'uptuple.extend_maintenance', '{}', 300000, 120000,
       'Makes the occurrences of maintenance that recurs some weeks ahead.'),
      ('uptuple.prune_task_runs', '17 * * * *', 'uptuple.prune_task_runs', '{"keep": "30 days"}', 300000, 120000,
       'Deletes runs of tasks that ended longer ago than keep; the last one of each task stays.')
  ) shipped (name, cron, function, arguments, lock_at_most_ms, statement_timeout_ms, description)
  where not exists (
    select from uptuple.task present where present.name = shipped.name and present.source = 'builtin'
  )
  on conflict do nothing;
end
$function$;

comment on function uptuple.ensure_builtin_tasks() is
  'Inserts the tasks that ship with the program, unless they were there before.';

revoke execute on function uptuple.ensure_builtin_tasks() from public;
grant execute on function uptuple.ensure_builtin_tasks() to uptuple_worker, uptuple_operator;
