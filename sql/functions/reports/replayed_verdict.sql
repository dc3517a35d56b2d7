-- What a stored result would have been under other expected statuses or assertions: those given replace those of its revision.
--
-- Judged as of the moment it was recorded, of what is stored: status, latency, certificate. What was no answer stays what it was, and so
-- does what a person recorded. Where only the statuses change, the stored outcomes of the assertions count on. Reads nothing. Called by
-- replayed_alerts for each result.
create or replace function uptuple.replayed_verdict(result uptuple.result, config jsonb, changes jsonb)
returns uptuple.verdict
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  stored constant uptuple.verdict := (result.status, result.code, result.reason, null::jsonb);
  observation jsonb;
  base uptuple.verdict;
begin
  if not changes ?| '{expected_statuses,assertions}' or result.purpose = 'MANUAL' or result.status = 'INCONCLUSIVE'
    or result.code !~ '^(http\.status|assertion\..*|certificate\.days|dns\.answers)$' then
    return stored;
  end if;

  observation := jsonb_strip_nulls(jsonb_build_object(
    'status', result.http_status,
    'connected', true,
    'answers', result.detail -> 'answers',
    'certificate', result.detail -> 'certificate',
    'transport', result.detail -> 'transport',
    'server_version', result.detail -> 'server_version',
    'timings', jsonb_build_object('total', result.latency_ms)
  ));
  config := config || changes - 'assertions';
  if changes ? 'assertions' then
    return uptuple.judge_check(uptuple.with_assertions(config, changes -> 'assertions'), observation, result.recorded_at);
  end if;
  base := uptuple.judge_check(uptuple.with_assertions(config, '[]'), observation, result.recorded_at);
  return uptuple.verdict_on_outcomes(base, coalesce(result.detail -> 'assertions', '[]'));
end
$function$;

comment on function uptuple.replayed_verdict(uptuple.result, jsonb, jsonb) is
  'What a stored result would have been under other expected statuses or assertions.';

revoke execute on function uptuple.replayed_verdict(uptuple.result, jsonb, jsonb) from public;
