-- Settle one notice by its receiver's answer, with the consequences for its channel. finish_alerts, the caller, holds the locks of the lane
-- and of the channel.
--
-- The fence stands in the UPDATE: id, token, unended lease. It does not say that the state is SENDING, to which a CHECK ties the token: with
-- it PostgreSQL 15 kept a plan that read everything that waits. Writes delivery, delivery_attempt, counter
-- and channel.
create or replace function uptuple.settle_alert(delivery_id bigint, claim_token uuid, response jsonb)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  judged text;
  meaning text;
  wait constant interval := uptuple.asked_wait(response);
  http_status constant integer :=
    case when jsonb_typeof(response -> 'status') = 'number' then least(greatest((response ->> 'status')::numeric, 0), 999)::integer end;
  said constant text := uptuple.printable(
    coalesce(nullif(response ->> 'excerpt', ''), response -> 'error' ->> 'message', response -> 'error' ->> 'code'), 512);
  target uptuple.channel;
  settled uptuple.delivery;
  spent boolean;
begin
  select delivery.* into settled
  from uptuple.delivery
  where delivery.id = delivery_id and delivery.claim_token = claim_token and delivery.due_at > at;
  if not found then
    return case
      when exists (select from uptuple.delivery where delivery.id = delivery_id and delivery.accepted_token = claim_token) then 'DUPLICATE'
      else 'REFUSED'
    end;
  end if;
  select channel.* into target from uptuple.channel where channel.id = settled.channel_id;
  judged := uptuple.judge_response(response, target.kind);
  meaning := judged;

  -- A receiver that asks for a pause, or a channel at fault, costs the notice nothing.
  spent := meaning in ('DELIVERED', 'DEAD') or meaning = 'RETRY' and target.suspended_at is null;
  if meaning = 'RETRY' and spent and settled.attempts >= target.max_attempts then
    meaning := 'DEAD';
  end if;

  update uptuple.delivery
  set state = case meaning when 'DELIVERED' then 'DELIVERED' when 'DEAD' then 'DEAD' else 'READY' end,
      claim_token = null,
      accepted_token = claim_token,
      attempts = delivery.attempts - (not spent)::integer,
      due_at = case meaning
        when 'RETRY' then at + greatest(make_interval(secs => least(300, 5 * 2 ^ (delivery.attempts - 1))), wait)
        when 'PAUSED' then at + coalesce(wait, interval '1 minute')
        else at
      end,
      last_status = http_status,
      last_answer = said,
      last_cause = case when meaning <> 'DELIVERED' then uptuple.response_cause(response, target.kind) end,
      finished_at = case when meaning in ('DELIVERED', 'DEAD') then at end
  where delivery.id = delivery_id
    and delivery.claim_token = settle_alert.claim_token
    and delivery.due_at > clock_timestamp();
  if not found then
    return 'REFUSED';
  end if;

  insert into uptuple.delivery_attempt (delivery_id, attempt, finished_at, worker, outcome, status, latency_ms, answer)
  values (
    delivery_id, settled.attempts, at, settled.worker, meaning, http_status,
    case when jsonb_typeof(response -> 'latency_ms') = 'number' then least(greatest((response ->> 'latency_ms')::numeric, 0), 86400000)::real end,
    said
  );
  perform uptuple.count('delivery_attempts', jsonb_build_object('channel', target.name, 'outcome', meaning));
  perform uptuple.note_answer(target, judged, coalesce(said, uptuple.response_cause(response, target.kind)), http_status, wait);
  return meaning;
end
$function$;

comment on function uptuple.settle_alert(bigint, uuid, jsonb) is 'Settles one notice by its receiver''s answer. finish_alerts is its caller.';

revoke execute on function uptuple.settle_alert(bigint, uuid, jsonb) from public;
