-- The verdict on a check that is no HTTP check, before its assertions: connected, resolved, logged in, or an error. As of a moment, for the
-- days that a certificate has left. What is neither is refused with 22023. Reads nothing; called by judge_check.
create or replace function uptuple.other_verdict(config jsonb, observation jsonb, at timestamptz)
returns uptuple.verdict
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  failed constant uptuple.verdict := uptuple.error_verdict(observation);
  days numeric;
begin
  if failed.status is not null then
    return failed;
  end if;
  if config ? 'record_type' and jsonb_typeof(observation -> 'answers') = 'array' then
    return uptuple.dns_verdict(config, observation);
  end if;
  if config ? 'record_type' or not observation @> '{"connected": true}' then
    raise exception 'the observation is neither an answer nor an error with a code'
      using errcode = 'invalid_parameter_value',
            hint = 'Give {"connected": true}, {"answers": ["93.184.216.34"]} or {"error": {"code": "connect.refused", "message": "..."}}.';
  end if;
  if config ? 'days' then
    days := uptuple.certificate_days(observation, at);
    return case
      when days is null then ('DOWN', 'certificate.missing', 'the server showed no certificate with a date', null)::uptuple.verdict
      when days < (config ->> 'days')::integer then (
        'DOWN', 'certificate.days', format('the certificate has %s days left, expected at least %s', trim_scale(days), config ->> 'days'), null
      )::uptuple.verdict
      else ('UP', null, format('the certificate has %s days left', trim_scale(days)), null)::uptuple.verdict
    end;
  end if;
  return (
    'UP', null,
    coalesce('PostgreSQL ' || uptuple.printable(observation ->> 'server_version', 100), 'connected'),
    null
  )::uptuple.verdict;
end
$function$;

comment on function uptuple.other_verdict(jsonb, jsonb, timestamptz) is 'The verdict on a check that is no HTTP check, before its assertions.';

revoke execute on function uptuple.other_verdict(jsonb, jsonb, timestamptz) from public;
grant execute on function uptuple.other_verdict(jsonb, jsonb, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
