-- One assertion held against an observation, as of a moment. The outcomes are those of assertion_outcomes, its caller; calls itself for
-- any and all. Reads nothing.
create or replace function uptuple.assertion_outcome(assertion jsonb, observation jsonb, document uptuple.json_body, at timestamptz)
returns uptuple.outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  found_text text;
  found_number numeric;
  capped constant text := case when observation @> '{"body_capped": true}' then ', of which more was not read' else '' end;
begin
  case uptuple.assertion_subject(assertion)
    when 'any' then
      return uptuple.any_outcome(assertion -> 'any', observation, document, at);
    when 'all' then
      return uptuple.all_outcome(assertion -> 'all', observation, document, at);
    when 'status' then
      found_text := observation ->> 'status';
      return (
        case when uptuple.status_ranges(assertion ->> 'status') @> found_text::numeric::integer then 'PASS' else 'FAIL' end, found_text
      )::uptuple.outcome;
    when 'header' then
      found_text := observation -> 'headers' ->> (assertion ->> 'header');
      return uptuple.text_outcome(assertion - '{header,otherwise,name}'::text[], found_text, 'no such header', quote_literal(left(found_text, 150)));
    when 'body' then
      found_text := coalesce(observation ->> 'body', observation ->> 'received');
      return uptuple.text_outcome(assertion -> 'body', found_text, 'no body', format('%s characters', length(found_text)) || capped);
    when 'json' then
      return uptuple.json_outcome(assertion ->> 'json', assertion - '{json,otherwise,name}'::text[], document);
    when 'latency_ms' then
      found_number := uptuple.observed_ms(observation, 'total');
      return uptuple.number_outcome(assertion -> 'latency_ms', found_number, 'no time taken');
    when 'certificate_days' then
      -- Fetch, which carries a probe where nothing else can, shows no certificate: that says nothing of the target.
      if not observation ? 'certificate' and observation ->> 'transport' = 'fetch' then
        return ('UNKNOWN', 'no certificate, since this runtime cannot see one')::uptuple.outcome;
      end if;
      return uptuple.number_outcome(assertion -> 'certificate_days', uptuple.certificate_days(observation, at), 'no certificate');
    else
      raise exception 'an assertion looks at nothing that is known' using errcode = 'invalid_parameter_value';
  end case;
end
$function$;

comment on function uptuple.assertion_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) is 'One assertion held against an observation, as of a moment.';

revoke execute on function uptuple.assertion_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) from public;
grant execute on function uptuple.assertion_outcome(jsonb, jsonb, uptuple.json_body, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
