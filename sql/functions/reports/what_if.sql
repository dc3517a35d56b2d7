-- Which alerts a service would have raised with other settings, beside those that it did raise. Stores nothing.
--
-- Replays the stored results between two moments, as far as they are kept. Settings that are not given are the present ones, also for the
-- time before they were made. Status, latency and certificate of each check are stored; headers and bodies are not, so assertions on those are
-- refused. Reads service, result, job, incident, event.
create or replace function uptuple.what_if(
  service text,
  config jsonb default '{}',
  since timestamptz default clock_timestamp() - interval '7 days',
  until timestamptz default clock_timestamp()
)
returns table (
  region text,
  occurred_at timestamptz,
  kind text,
  would_tell boolean,
  told boolean,
  streak integer,
  code text,
  reason text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  watched uptuple.service;
  current uptuple.service_revision;
  changes jsonb := config;
  unknown text;
  setting text;
  subject text;
begin
  select known.* into watched from uptuple.service known where known.id = uptuple.watched_service(service);
  select revision.* into current
  from uptuple.service_revision revision
  where revision.service_id = watched.id and revision.revision = watched.revision;

  if (jsonb_typeof(changes) = 'object') is not true then
    raise exception 'config must be a JSON object'
      using errcode = 'invalid_parameter_value', hint = 'For example ''{"failure_threshold": 2}''.';
  end if;
  select key into unknown from jsonb_object_keys(changes) key
  where key <> all ('{failure_threshold,recovery_threshold,expected_statuses,assertions}') order by key limit 1;
  if unknown is not null or changes ? 'expected_statuses' and current.kind <> 'http' then
    raise exception 'config has %, which cannot be tried on what is stored', quote_literal(left(coalesce(unknown, 'expected_statuses'), 100))
      using errcode = 'invalid_parameter_value', hint = 'It may have failure_threshold, recovery_threshold, assertions and, for http, expected_statuses.';
  end if;
  foreach setting in array '{failure_threshold,recovery_threshold}'::text[] loop
    if changes ? setting and (changes ->> setting ~ '^[1-9][0-9]?$|^100$') is not true then
      raise exception '% is %, and must be between 1 and 100', setting, left((changes -> setting)::text, 100)
        using errcode = 'invalid_parameter_value', hint = 'For example ''{"failure_threshold": 2}''.';
    end if;
  end loop;
  if changes ? 'expected_statuses' then
    changes := changes || jsonb_build_object('expected_statuses', uptuple.status_ranges(changes ->> 'expected_statuses')::text);
  end if;
  if changes ? 'assertions' then
    changes := changes || jsonb_build_object('assertions', uptuple.check_assertions(changes -> 'assertions', current.kind, current.target));
    select uptuple.assertion_subject(leaf) into subject
    from uptuple.assertion_leaves(changes -> 'assertions') leaf
    where leaf ?| '{header,body,json}'
    limit 1;
    if subject is not null then
      raise exception 'config has an assertion on %, and bodies and headers are not stored', subject
        using errcode = 'invalid_parameter_value',
              hint = 'Status, latency_ms and certificate_days of each check are. Try others on one observation with test_assertions.';
    end if;
  end if;
  if (since < until) is not true then
    raise exception 'since must be before until' using errcode = 'invalid_parameter_value', hint = 'Both may be left out: the last seven days.';
  end if;

  return query
  with would as materialized (
    select probed.region, replayed.*, coalesce(replayed.applied_order::text, 'at ' || replayed.occurred_at) as cause
    from unnest(watched.regions) probed (region)
    cross join lateral uptuple.replayed_alerts(watched, probed.region, changes, since, until) replayed
  ),
  did as materialized (
    select incident.region, event.kind, event.occurred_at, event.data, coalesce(event.applied_order::text, 'at ' || event.occurred_at) as cause
    from uptuple.event
    join uptuple.incident on incident.id = event.incident_id
    where incident.service_id = watched.id and event.kind in ('service.failed', 'service.recovered')
      and event.occurred_at >= since and event.occurred_at < until
  )
  select coalesce(would.region, did.region), coalesce(would.occurred_at, did.occurred_at), coalesce(would.kind, did.kind),
    would.kind is not null, did.kind is not null, would.streak,
    coalesce(would.code, did.data ->> 'code'), coalesce(would.reason, did.data ->> 'reason')
  from would
  full join did on did.region = would.region and did.kind = would.kind and did.cause = would.cause
  order by 1, 2, 3;
end
$function$;

comment on function uptuple.what_if(text, jsonb, timestamptz, timestamptz) is
  'Which alerts a service would have raised between two moments (default: the last seven days) with other settings: '
  'what_if(''inventory'', ''{"failure_threshold": 2, "assertions": [{"latency_ms": {"<": 500}, "otherwise": "DOWN"}]}''). config may have '
  'failure_threshold, recovery_threshold, expected_statuses, and assertions on status, latency_ms and certificate_days, which replace those there are. A '
  'row for each alert: would_tell, with these settings; told, as it was. Bodies and headers are not stored, so assertions on them are refused. Maintenance '
  'counts; second opinions, dependencies and damping do not: where they held something back, told is false.';

revoke execute on function uptuple.what_if(text, jsonb, timestamptz, timestamptz) from public;
grant execute on function uptuple.what_if(text, jsonb, timestamptz, timestamptz) to uptuple_operator, uptuple_viewer, uptuple_worker;
