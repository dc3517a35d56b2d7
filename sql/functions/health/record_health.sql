-- Record by hand that a service is up or down, as a job would: the same state, streak, incident and notices.
--
-- A record by hand has no window: it counts in the order of arrival, six calls in a second are six records, and it never keeps a window
-- out. On a disabled service it is stored and moves nothing. Answers the state it led to. Writes through record_results.
-- Its plans are pinned, so that one which was made for the first few services does not read all of many.
create or replace function uptuple.record_health(
  service text,
  status text,
  reason text default null,
  latency_ms real default null,
  region text default null
)
returns table (applied boolean, state text, failure_streak integer, success_streak integer, incident_id bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_variable
declare
  watched uptuple.service;
  at_region text;
  arrival constant bigint := floor(extract(epoch from clock_timestamp()));
  before bigint;
begin
  status := upper(status);
  if (status in ('UP', 'DEGRADED', 'DOWN', 'INCONCLUSIVE')) is not true then
    raise exception 'status is %, which is no verdict', coalesce(quote_literal(status), 'null')
      using errcode = 'invalid_parameter_value', hint = 'Use UP, DEGRADED, DOWN or INCONCLUSIVE.';
  end if;
  if latency_ms < 0 or latency_ms > 86400000 then
    raise exception 'latency_ms is %, and must be between 0 and 86400000', latency_ms
      using errcode = 'invalid_parameter_value', hint = 'It is a time in milliseconds, or null.';
  end if;
  watched := uptuple.find_service(service);
  at_region := coalesce(region, watched.regions[1]);
  if at_region <> all (watched.regions) then
    raise exception 'the service % is not probed from region %', quote_literal(service), quote_literal(region)
      using errcode = 'UT001', hint = 'Its regions are ' || array_to_string(watched.regions, ', ') || '.';
  end if;

  perform uptuple.ensure_partitions(arrival, arrival);
  select current.applied_count into before
  from uptuple.service_state current
  where current.service_id = watched.id and current.region = at_region
  for no key update;

  perform uptuple.record_results(array[(
    watched.id, at_region, arrival, null, watched.revision, watched.interval_seconds, 'MANUAL', status,
    case when status = 'DOWN' then 'manual' end, coalesce(uptuple.printable(reason, 500), 'recorded by ' || session_user), latency_ms,
    null, null, null, null, null, session_user, null
  )::uptuple.health_record]);

  return query
  select current.applied_count > before, current.status, current.failure_streak, current.success_streak, current.incident_id
  from uptuple.service_state current
  where current.service_id = watched.id and current.region = at_region;
end
$function$;

comment on function uptuple.record_health(text, text, text, real, text) is
  'Record by hand that a service is UP, DEGRADED, DOWN or INCONCLUSIVE, with a reason. Counts as a check does, in the order of the calls. '
  'Answers whether it was applied and the state it led to.';

revoke execute on function uptuple.record_health(text, text, text, real, text) from public;
grant execute on function uptuple.record_health(text, text, text, real, text) to uptuple_worker, uptuple_operator;
