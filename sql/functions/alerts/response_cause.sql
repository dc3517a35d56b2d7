-- What a failure was, in a form that can be counted: HTTP 422, SMTP 550, or the code of an error. Null for none. Reads nothing.
create or replace function uptuple.response_cause(response jsonb, kind text)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
return case
  when jsonb_typeof(response -> 'status') = 'number'
    then case kind when 'email' then 'SMTP ' else 'HTTP ' end || least(greatest((response ->> 'status')::numeric, 0), 999)::integer
  else coalesce(uptuple.printable(response -> 'error' ->> 'code', 100), 'no answer')
end;

comment on function uptuple.response_cause(jsonb, text) is
  'What a failure was, in a form that can be counted: HTTP 422, SMTP 550, or the code of an error.';

revoke execute on function uptuple.response_cause(jsonb, text) from public;
