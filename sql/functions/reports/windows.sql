-- Each window of a service between two moments that was expected, with its verdict or the name of its gap.
--
-- verdict: UP, DEGRADED or DOWN. gap: INCONCLUSIVE, MISSED, FAILED, CANCELED, PENDING (its job is not finished) or ABSENT (nobody
-- enqueued it, or its job had no result and is no longer kept). A job that can no longer be claimed, after two days, is not pending but
-- MISSED or FAILED. Expected windows come from the record of when the service was active with which grid: as tally counts them, one by one.
-- Reads service_active, job, result.
create or replace function uptuple.windows(
  service text,
  since timestamptz default clock_timestamp() - interval '1 day',
  until timestamptz default clock_timestamp()
)
returns table (region text, scheduled_slot bigint, starts_at timestamptz, verdict text, gap text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  wanted constant bigint := uptuple.watched_service(service);
  claimable_from constant bigint := extract(epoch from clock_timestamp() - interval '2 days 5 minutes');
begin
  return query
  select grid.region, grid.slot, to_timestamp(grid.slot),
    case when result.status <> 'INCONCLUSIVE' then result.status end,
    case
      when result.status = 'INCONCLUSIVE' then 'INCONCLUSIVE'
      when result.status is not null then null
      when job.state in ('MISSED', 'FAILED', 'CANCELED') then job.state
      when job.scheduled_slot >= claimable_from then 'PENDING'
      when job.attempts = 0 then 'MISSED'
      when job.attempts > 0 then 'FAILED'
      else 'ABSENT'
    end
  from uptuple.expected_windows(wanted, since, until) grid
  left join uptuple.result
    on result.service_id = wanted and result.region = grid.region and result.scheduled_slot = grid.slot
    and result.purpose = any ('{GRID,HEARTBEAT}')
  left join uptuple.job
    on job.service_id = wanted and job.region = grid.region and job.scheduled_slot = grid.slot and job.purpose = 'GRID'
  order by grid.region, grid.slot;
end
$function$;

comment on function uptuple.windows(text, timestamptz, timestamptz) is
  'Each expected window of a service between two moments (default: the last day) with its verdict or the name of its gap.';

revoke execute on function uptuple.windows(text, timestamptz, timestamptz) from public;
grant execute on function uptuple.windows(text, timestamptz, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
