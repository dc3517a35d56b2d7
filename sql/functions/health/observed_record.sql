-- A completed job's observation as the record that moves its service's state: judged, with its text made safe.
--
-- Keeps as detail what people may ask for later (address, redirects, certificate, warnings), never a body, and at most 16 kB of it.
-- Called by complete_batch. Reads nothing.
create or replace function uptuple.observed_record(
  service_id bigint,
  region text,
  scheduled_slot bigint,
  job_id bigint,
  revision integer,
  interval_seconds integer,
  purpose text,
  worker text,
  config jsonb,
  observation jsonb
)
returns uptuple.health_record
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  verdict constant uptuple.verdict := uptuple.evaluate_observation(config, observation);
  detail jsonb := observation - '{status,error,timings,headers,body,body_capped}'::text[];
begin
  if detail = '{}' then
    detail := null;
  elsif length(detail::text) > 16000 then
    detail := jsonb_build_object('warnings', jsonb_build_array('detail_too_long'));
  end if;

  return (
    service_id, region, scheduled_slot, job_id, revision, interval_seconds, purpose, verdict.status, verdict.code, verdict.reason,
    uptuple.observed_ms(observation, 'total'),
    uptuple.observed_ms(observation, 'dns'),
    uptuple.observed_ms(observation, 'connect'),
    uptuple.observed_ms(observation, 'tls'),
    uptuple.observed_ms(observation, 'first_byte'),
    case when jsonb_typeof(observation -> 'status') = 'number' then (observation ->> 'status')::numeric::integer end,
    worker,
    detail
  )::uptuple.health_record;
end
$function$;

comment on function uptuple.observed_record(bigint, text, bigint, bigint, integer, integer, text, text, jsonb, jsonb) is
  'A completed job''s observation, judged, as record_results takes it.';

revoke execute on function uptuple.observed_record(bigint, text, bigint, bigint, integer, integer, text, text, jsonb, jsonb) from public;
