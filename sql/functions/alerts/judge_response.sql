-- What a receiver's answer means for the notice: DELIVERED, DEAD (no retry can mend it), SUSPENDED (the channel is at fault), PAUSED (it asks
-- for time) or RETRY. Redirects are not followed, so they are retried like any other nonsense. Reads nothing.
create or replace function uptuple.judge_response(response jsonb)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
return case
  when response -> 'error' ->> 'code' = 'secret.missing' then 'SUSPENDED'
  when jsonb_typeof(response -> 'status') is distinct from 'number' then 'RETRY'
  when (response ->> 'status')::numeric between 200 and 299 then 'DELIVERED'
  when (response ->> 'status')::numeric in (400, 409, 413, 415, 422) then 'DEAD'
  when (response ->> 'status')::numeric in (401, 403, 404, 405, 410) then 'SUSPENDED'
  when (response ->> 'status')::numeric = 429 then 'PAUSED'
  else 'RETRY'
end;

comment on function uptuple.judge_response(jsonb) is
  'What a receiver''s answer means: DELIVERED, DEAD, SUSPENDED, PAUSED or RETRY.';

revoke execute on function uptuple.judge_response(jsonb) from public;
grant execute on function uptuple.judge_response(jsonb) to uptuple_worker, uptuple_operator;
