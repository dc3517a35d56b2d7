-- What of an observation people may ask for later: address, redirects, certificate, warnings. Never a body, and at most 16 kB of it; null
-- if there is nothing. Of what is longer, only the certificate is kept, without its names, so that its end is known all the same.
--
-- Called once for each result, so its body is bound when it is created and the planner inlines it. Reads nothing.
create or replace function uptuple.observed_detail(observation jsonb)
returns jsonb
language sql
immutable
return case
  when length((observation - '{status,error,timings,headers,body,body_capped}'::text[])::text) <= 16000
  then nullif(observation - '{status,error,timings,headers,body,body_capped}'::text[], '{}')
  else '{"warnings": ["detail_too_long"]}'::jsonb || case
    when jsonb_typeof(observation -> 'certificate') = 'object' and length(((observation -> 'certificate') - 'names')::text) <= 4000
    then jsonb_build_object('certificate', (observation -> 'certificate') - 'names')
    else '{}'
  end
end;

comment on function uptuple.observed_detail(jsonb) is 'What of an observation is kept as the detail of its result, or null.';

revoke execute on function uptuple.observed_detail(jsonb) from public;
