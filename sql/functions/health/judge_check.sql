-- The verdict on a check that has assertions, or that is of another kind than HTTP, as of a moment.
--
-- What the target did comes first, then each assertion. Where the target gave no answer there is nothing to hold assertions against. A body
-- that did not end in time is judged by its beginning, if what was looked for is there.
-- Reads nothing. Called by evaluate_observation, test_assertions and replayed_results.
create or replace function uptuple.judge_check(config jsonb, observation jsonb, at timestamptz)
returns uptuple.verdict
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  is_http constant boolean := config ? 'expected_statuses';
  -- A body that cannot be decoded is no failure where nobody looks at it.
  seen constant jsonb := case
    when observation -> 'error' ->> 'code' = 'body.decode' and not config ? 'read_body' and jsonb_typeof(observation -> 'status') = 'number'
    then observation - 'error'
    else observation
  end;
  base uptuple.verdict;
begin
  if seen -> 'error' ->> 'code' = 'timeout.body' and seen ? 'body' and uptuple.holds_early(config -> 'assertions') then
    base := uptuple.judge_check(config, seen - 'error' || '{"body_capped": true}', at);
    if base.status <> 'DOWN' then
      base.reason := left(base.reason || ', of a body that did not end in time', 500);
      return base;
    end if;
  end if;
  if not is_http then
    base := uptuple.other_verdict(config, seen, at);
  elsif config ? 'status_asserted' and jsonb_typeof(seen -> 'status') = 'number' and not seen ? 'error' then
    base := ('UP', null, 'HTTP ' || (seen ->> 'status')::numeric::integer, null);
  else
    base := uptuple.evaluate_observation(config - 'assertions', seen);
  end if;
  if seen ? 'error' or not config ? 'assertions' then
    return base;
  end if;

  return uptuple.verdict_on_outcomes(base, uptuple.assertion_outcomes(config -> 'assertions', seen, at, base.status = 'UP'));
end
$function$;

comment on function uptuple.judge_check(jsonb, jsonb, timestamptz) is
  'The verdict on a check that has assertions, or that is of another kind than HTTP, as of a moment.';

revoke execute on function uptuple.judge_check(jsonb, jsonb, timestamptz) from public;
grant execute on function uptuple.judge_check(jsonb, jsonb, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
