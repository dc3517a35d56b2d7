-- The first fire of a cron or of a grid after an instant; null if there is none. The grid of a fixed rate is `anchor`
-- and every interval_ms after it, in elapsed time: lateness does not shift it, and an outage leaves no trace in it. A
-- fixed delay has no fires ahead of its last run's end. Called by reckon_tasks and plan_fires.
create or replace function uptuple.task_fire_after(
  cron text,
  time_zone text,
  interval_ms bigint,
  anchor timestamptz,
  after timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  steps bigint;
begin
  if cron is not null then
    return uptuple.cron_next(cron, time_zone, after);
  end if;
  steps := greatest(0, floor(extract(epoch from after - anchor) * 1000 / interval_ms) + 1)::bigint;
  return anchor + make_interval(secs => steps * interval_ms / 1000.0);
end
$function$;

comment on function uptuple.task_fire_after(text, text, bigint, timestamptz, timestamptz) is
  'The first fire of a cron expression, or of the grid of interval_ms from anchor, after an instant.';

revoke execute on function uptuple.task_fire_after(text, text, bigint, timestamptz, timestamptz) from public;
