-- How long an answer asks to be left alone: by its Retry-After, or by the retry_after in its body, in seconds, as Discord and Telegram say it; the
-- longer of the two, at most an hour; null if it does not ask.
--
-- The body may be cut, so it is searched and not read as JSON. Reads nothing.
create or replace function uptuple.asked_wait(response jsonb)
returns interval
language sql
stable
set search_path = pg_catalog, pg_temp
return greatest(
  uptuple.retry_after(response ->> 'retry_after'),
  case when response -> 'status' = '429' then uptuple.retry_after(
    ceil((regexp_match(response ->> 'excerpt', '"retry_after" ?: ?([0-9]{1,10}(\.[0-9]{1,20})?)'))[1]::numeric)::text
  ) end
);

comment on function uptuple.asked_wait(jsonb) is
  'How long an answer asks to be left alone, by its Retry-After or by its body, at most an hour; null if it does not ask.';

revoke execute on function uptuple.asked_wait(jsonb) from public;
