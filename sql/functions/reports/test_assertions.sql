-- Try assertions on an observation: a row for each, then the verdict. Stores nothing.
--
-- config is a list of assertions, or an object with "assertions" and "expected_statuses", and with the name of a "service" that the rest is
-- taken from. Refuses what add_service would refuse. Judges by the same functions as a check does. Reads service and service_revision.
create or replace function uptuple.test_assertions(config jsonb, observation jsonb)
returns table (assertion text, outcome text, expected text, found text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  -- Beside what is judged by, all that a stored configuration has, so that it can be tried as it is.
  known constant text[] := '{service,assertions,expected_statuses,status_asserted,read_body,want_headers,method,headers,body,follow_redirects,insecure,'
    'tls,ip_family,record_type,resolver,answers,days,send,expect}';
  unknown text;
  given jsonb := case jsonb_typeof(config) when 'array' then jsonb_build_object('assertions', config) else config end;
  kind text := 'http';
  target text := 'https://example.com/';
  tested jsonb := '{"expected_statuses": "{[200,300)}"}';
  assertions jsonb;
  verdict uptuple.verdict;
begin
  if (jsonb_typeof(given) = 'object' and jsonb_typeof(observation) = 'object') is not true then
    raise exception 'config must be a list of assertions or an object, and observation an object'
      using errcode = 'invalid_parameter_value',
            hint = 'For example select * from uptuple.test_assertions(''[{"body": {"contains": "ok"}}]'', ''{"status": 200, "body": "ok"}'').';
  end if;
  select min(key) into unknown from jsonb_object_keys(given) key where key <> all (known);
  if unknown is not null then
    raise exception 'config has %, which no check has', quote_literal(left(unknown, 100))
      using errcode = 'invalid_parameter_value', hint = 'It may have assertions, expected_statuses, and service for those of a service.';
  end if;
  if given ? 'service' then
    select revision.kind, revision.target, revision.config into kind, target, tested
    from uptuple.service
    join uptuple.service_revision revision on revision.service_id = service.id and revision.revision = service.revision
    where service.id = uptuple.watched_service(given ->> 'service');
  end if;
  assertions := uptuple.check_assertions(coalesce(given -> 'assertions', tested -> 'assertions', '[]'), kind, target);
  tested := uptuple.with_assertions(
    tested || given - '{service,expected_statuses}'::text[]
      || case
        when given ? 'expected_statuses' and kind = 'http'
        then jsonb_build_object('expected_statuses', uptuple.status_ranges(given ->> 'expected_statuses')::text)
        else '{}'
      end,
    assertions
  );
  verdict := uptuple.judge_check(tested, observation, clock_timestamp());

  if tested ? 'expected_statuses' and not tested ? 'status_asserted' then
    return query
    select 'expected_statuses',
      case
        when observation ->> 'status' is null then 'MISSING'
        when (tested ->> 'expected_statuses')::int4multirange @> (observation ->> 'status')::numeric::integer then 'PASS'
        else 'FAIL'
      end,
      uptuple.status_text((tested ->> 'expected_statuses')::int4multirange),
      observation ->> 'status';
  end if;
  if observation ? 'error' and verdict.outcomes is null and verdict.status <> 'UP' then
    return query
    select uptuple.assertion_text(each.value), 'NOT_JUDGED', uptuple.assertion_expected(each.value), null::text
    from jsonb_array_elements(assertions) each;
  else
    return query
    select held.assertion, held.outcome, held.expected, held.found
    from jsonb_to_recordset(uptuple.assertion_outcomes(assertions, observation, clock_timestamp()))
      as held (assertion text, outcome text, expected text, found text);
  end if;
  return query select 'verdict', verdict.status, null::text, verdict.reason;
end
$function$;

comment on function uptuple.test_assertions(jsonb, jsonb) is
  'Try assertions on an observation: test_assertions(''[{"json": "$.queue.depth", "<": 3}]'', ''{"status": 200, "body": "{...}"}''). A row for each '
  'with its outcome (PASS, FAIL, MISSING, INVALID_JSON, UNKNOWN, ERROR, NOT_JUDGED), what was expected and what was found; the last row is the '
  'verdict. config may also be an object: {"service": "inventory"} tries those of a service, with "assertions" or "expected_statuses" of your own. '
  'An observation may have status, headers (names in lower case), body, body_capped, timings {"total": ms}, certificate {"not_after": ...}, '
  'error {"code", "message"}.';

revoke execute on function uptuple.test_assertions(jsonb, jsonb) from public;
grant execute on function uptuple.test_assertions(jsonb, jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
