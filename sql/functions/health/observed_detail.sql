-- What of an observation people may ask for later: address, redirects, certificate, warnings, answers, and the outcomes of assertions where
-- they were not plainly met. Never a body, and at most 16 kB of it beside the outcomes, which are bounded themselves; null if there is nothing.
-- Of what is longer, only the certificate is kept, without its names, so that its end is known all the same.
--
-- Called once for each result, so its body is bound when it is created and the planner inlines it: 5 us a result. Stable, not immutable: a cast
-- of jsonb to text is stable, and the planner did not inline it as long as this said more than that. Reads nothing.
create or replace function uptuple.observed_detail(observation jsonb, outcomes jsonb default null)
returns jsonb
language sql
stable
return case
  when outcomes is not null or observation -> 'error' ->> 'code' = 'body.decode' then uptuple.explained_detail(observation, outcomes)
  when length((observation - '{status,error,timings,headers,body,body_capped,connected,received}'::text[])::text) <= 16000
  then nullif(observation - '{status,error,timings,headers,body,body_capped,connected,received}'::text[], '{}')
  else '{"warnings": ["detail_too_long"]}'::jsonb || case
    when jsonb_typeof(observation -> 'certificate') = 'object' and length(((observation -> 'certificate') - 'names')::text) <= 4000
    then jsonb_build_object('certificate', (observation -> 'certificate') - 'names')
    else '{}'
  end
end;

comment on function uptuple.observed_detail(jsonb, jsonb) is
  'What of an observation is kept as the detail of its result, with the outcomes of its assertions, or null.';

revoke execute on function uptuple.observed_detail(jsonb, jsonb) from public;
