-- What an observation means under a configuration: the verdict, a failure code, and the reason in words.
--
-- Decides for jobs, for what-if replays and for people in psql alike; the runtime only reports facts. UP or DOWN: a status is judged by
-- expected_statuses, an error is DOWN with its own code. INCONCLUSIVE: the runtime could not even send the request (a secret is missing).
-- An observation that is neither an answer nor an error is refused with 22023. Assertions, and what is no HTTP check, judge_check judges;
-- so it does a body that cannot be decoded, which is no failure where nobody looks at the body.
--
-- Called for each result, so its body is bound when it is created and the planner inlines it: in plpgsql, with a SET, a call took 2.7 us,
-- and the record made around it in the same way 3 us more. Stable, not immutable: a cast to a multirange is stable. Reads nothing.
create or replace function uptuple.evaluate_observation(config jsonb, observation jsonb)
returns uptuple.verdict
language sql
stable
return case
  when config ? 'assertions' or not config ? 'expected_statuses' then uptuple.judge_check(config, observation, statement_timestamp())
  when jsonb_typeof(observation -> 'status') = 'number' and not observation ? 'error' then
    case
      when (config ->> 'expected_statuses')::int4multirange @> (observation ->> 'status')::numeric::integer
        then ('UP', null, 'HTTP ' || (observation ->> 'status')::numeric::integer, null)::uptuple.verdict
      else (
        'DOWN', 'http.status',
        format(
          'HTTP %s, expected %s', (observation ->> 'status')::numeric::integer,
          uptuple.status_text((config ->> 'expected_statuses')::int4multirange)
        ),
        null
      )::uptuple.verdict
    end
  when observation -> 'error' ->> 'code' = 'body.decode' and not config ? 'read_body' and jsonb_typeof(observation -> 'status') = 'number'
    then uptuple.judge_check(config, observation, statement_timestamp())
  else coalesce(uptuple.error_verdict(observation), uptuple.refuse_observation())
end;

comment on function uptuple.evaluate_observation(jsonb, jsonb) is
  'The verdict (status, code, reason, outcomes of its assertions) on an observation under a service''s configuration. The same in '
  'production, in a replay and in psql.';

revoke execute on function uptuple.evaluate_observation(jsonb, jsonb) from public;
grant execute on function uptuple.evaluate_observation(jsonb, jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
