-- What an assertion looks at: the one of its names that is a subject. Reads nothing.
create or replace function uptuple.assertion_subject(assertion jsonb)
returns text
language sql
immutable
return case
  when assertion ? 'status' then 'status'
  when assertion ? 'header' then 'header'
  when assertion ? 'body' then 'body'
  when assertion ? 'json' then 'json'
  when assertion ? 'latency_ms' then 'latency_ms'
  when assertion ? 'certificate_days' then 'certificate_days'
  when assertion ? 'any' then 'any'
  when assertion ? 'all' then 'all'
end;

comment on function uptuple.assertion_subject(jsonb) is 'What an assertion looks at: status, header, body, json, latency_ms, certificate_days, any or all.';

revoke execute on function uptuple.assertion_subject(jsonb) from public;
grant execute on function uptuple.assertion_subject(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
