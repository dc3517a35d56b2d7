-- What an observation means under a configuration: the verdict, a failure code, and the reason in words.
--
-- Decides for jobs, for what-if replays and for people in psql alike; the runtime only reports facts. UP or DOWN: a status is judged by
-- expected_statuses, an error is DOWN with its own code. INCONCLUSIVE: the runtime could not even send the request (a secret is missing).
-- An observation that is neither an answer nor an error is refused with 22023. Reads nothing.
create or replace function uptuple.evaluate_observation(config jsonb, observation jsonb)
returns uptuple.verdict
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  status integer;
  error_code text;
begin
  if jsonb_typeof(observation -> 'status') = 'number' and not observation ? 'error' then
    status := (observation ->> 'status')::numeric::integer;
    if (config ->> 'expected_statuses')::int4multirange @> status then
      return ('UP', null, 'HTTP ' || status)::uptuple.verdict;
    end if;
    return (
      'DOWN', 'http.status',
      format('HTTP %s, expected %s', status, uptuple.status_text((config ->> 'expected_statuses')::int4multirange))
    )::uptuple.verdict;
  end if;

  error_code := observation -> 'error' ->> 'code';
  if error_code ~ '^[a-z_]{1,30}(\.[a-z_]{1,30})?$' then
    return (
      case when error_code = 'secret.missing' then 'INCONCLUSIVE' else 'DOWN' end,
      error_code,
      coalesce(nullif(uptuple.printable(observation -> 'error' ->> 'message', 500), ''), error_code)
    )::uptuple.verdict;
  end if;

  raise exception 'the observation has neither a numeric status nor an error with a code'
    using errcode = 'invalid_parameter_value',
          hint = 'Give {"status": 200} or {"error": {"code": "connect.refused", "message": "..."}}.';
end
$function$;

comment on function uptuple.evaluate_observation(jsonb, jsonb) is
  'The verdict (status, code, reason) on an observation under a service''s configuration. The same in production, in a replay and in psql.';

revoke execute on function uptuple.evaluate_observation(jsonb, jsonb) from public;
grant execute on function uptuple.evaluate_observation(jsonb, jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
