-- Record the fires that plan_fires left out, each as a SKIPPED row with the reason; a long stretch as one row that
-- stands for all of it. Part of claim_task_at. Writes task_run.
create or replace function uptuple.skip_fires(
  task text,
  skipped timestamptz[],
  skipped_from timestamptz,
  skipped_until timestamptz,
  runs_instead timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  insert into uptuple.task_run (task, fire_at, skipped_until, cause, state, reason, trace_id, ended_at)
  select
    task, fires.fire_at, fires.until, 'SCHEDULE', 'SKIPPED',
    case
      when runs_instead is null then 'nobody could run it in time'
      else 'coalesced into the fire at ' || to_char(runs_instead at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    end,
    replace(gen_random_uuid()::text, '-', ''), clock_timestamp()
  from (
    select skipped_from, skipped_until where skipped_from is not null
    union all
    select at, null from unnest(skipped) at
  ) fires (fire_at, until)
  on conflict on constraint task_run_fire do nothing;
end
$function$;

comment on function uptuple.skip_fires(text, timestamptz[], timestamptz, timestamptz, timestamptz) is
  'Records the fires of a task that the miss policy left out. Part of claim_task.';

revoke execute on function uptuple.skip_fires(text, timestamptz[], timestamptz, timestamptz, timestamptz) from public;
