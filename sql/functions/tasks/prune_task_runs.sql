-- Delete runs of tasks that ended longer ago than `keep`, except the last of each task; at most `batch` of them, oldest
-- first. Returns how many. A scheduled task that ships, and for people. Writes task_run.
create or replace function uptuple.prune_task_runs(
  keep interval default interval '30 days',
  batch integer default 50000
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  deleted bigint;
begin
  if (keep >= interval '1 hour' and batch between 1 and 1000000) is not true then
    raise exception 'keep is % and batch is %; keep must be an hour or longer, batch between 1 and 1000000',
        coalesce(keep::text, 'null'), coalesce(batch::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'For example keep => ''30 days''.';
  end if;
  delete from uptuple.task_run run
   where run.id in (
     select old.id
       from uptuple.task_run old
      where old.ended_at < clock_timestamp() - keep
        and exists (select from uptuple.task_run later where later.task = old.task and later.fire_at > old.fire_at)
      order by old.ended_at
      limit batch
   );
  get diagnostics deleted = row_count;
  return deleted;
end
$function$;

comment on function uptuple.prune_task_runs(interval, integer) is
  'Delete runs of tasks that ended longer ago than keep, except the last of each task. Returns how many.';

revoke execute on function uptuple.prune_task_runs(interval, integer) from public;
grant execute on function uptuple.prune_task_runs(interval, integer) to uptuple_task, uptuple_operator;
