-- What a receiver's answer means for the notice: DELIVERED, DEAD (no retry can mend it), SUSPENDED (the channel is at fault), PAUSED (it asks
-- for time) or RETRY. Redirects are not followed, so they are retried like any other nonsense.
--
-- Some kinds answer 400 when not the notice but the channel is wrong: an unknown chat, key or webhook. A mail server's answer is judged by
-- the step it answers: refused for good after DATA, the mail is at fault; refused for good before, the login, the sender or the recipients are.
-- Reads nothing.
create or replace function uptuple.judge_response(response jsonb, kind text default 'webhook')
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
return case
  when response -> 'error' ->> 'code' = 'secret.missing' then 'SUSPENDED'
  when jsonb_typeof(response -> 'status') is distinct from 'number' then 'RETRY'
  when (response ->> 'status')::numeric between 200 and 299 then 'DELIVERED'
  when kind = 'email' then case
    when (response ->> 'status')::numeric not between 500 and 599 then 'RETRY'
    when response ->> 'command' = 'DATA' then 'DEAD'
    else 'SUSPENDED'
  end
  when (response ->> 'status')::numeric = 400 and response ->> 'excerpt' ~* case kind
      when 'telegram' then 'chat not found|upgraded to a supergroup|chat_id is empty|thread not found'
      when 'pushover' then '"(token|user)": ?"invalid"'
      when 'pagerduty' then 'routing_key'
      when 'mattermost' then 'incoming_webhook\.(invalid|disabled|channel)|Invalid webhook'
    end then 'SUSPENDED'
  when (response ->> 'status')::numeric in (400, 409, 413, 415, 422) then 'DEAD'
  when (response ->> 'status')::numeric in (401, 403, 404, 405, 410) then 'SUSPENDED'
  when (response ->> 'status')::numeric = 429 then 'PAUSED'
  else 'RETRY'
end;

comment on function uptuple.judge_response(jsonb, text) is
  'What the answer of a receiver of this kind means: DELIVERED, DEAD, SUSPENDED, PAUSED or RETRY.';

revoke execute on function uptuple.judge_response(jsonb, text) from public;
grant execute on function uptuple.judge_response(jsonb, text) to uptuple_worker, uptuple_operator;
