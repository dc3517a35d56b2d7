-- Report what receivers said: [{delivery_id, claim_token, response: {status, retry_after, excerpt, error, latency_ms}}, ...]. Answers for each.
--
-- Accepted only with the token, in the lease, while unsent: an ended lease answers REFUSED and changes nothing, a repeated report of one
-- that was accepted answers DUPLICATE. DELIVERED, DEAD, RETRY (after 5, 10, 20, 40 s), PAUSED and SUSPENDED are what the answer meant
--; the last two, and failures of a channel that is suspended already, spend no attempt. The fifth transient failure in a row
-- over a channel's notices suspends it. Race, two that report for the same lanes or channels in opposed orders: lanes are locked in the
-- order of ids, then channels, as claim_alerts locks them. Writes delivery, delivery_attempt, channel.
create or replace function uptuple.finish_alerts(answers jsonb)
returns table (delivery_id bigint, outcome text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_variable
declare
  answer record;
  ids bigint[];
  settled bigint[] := '{}';
begin
  if (jsonb_typeof(answers) = 'array') is not true then
    raise exception 'answers must be a JSON array'
      using errcode = 'invalid_parameter_value', hint = 'Give [{"delivery_id": 1, "claim_token": "...", "response": {"status": 202}}, ...].';
  end if;
  ids := array(select (entry ->> 'delivery_id')::bigint from jsonb_array_elements(answers) entry);

  lock table uptuple.channel in row exclusive mode;
  perform uptuple.lock_lanes('{}', ids);
  perform 1
  from uptuple.channel
  where channel.id in (select delivery.channel_id from uptuple.delivery where delivery.id = any (ids) and delivery.claim_token is not null)
  order by channel.id
  for no key update;

  for answer in
    select field.delivery_id as id, field.claim_token as token, field.response
    from jsonb_array_elements(answers) with ordinality entry
    cross join lateral jsonb_to_record(entry.value) as field (delivery_id bigint, claim_token uuid, response jsonb)
    order by entry.ordinality
  loop
    delivery_id := answer.id;
    outcome := uptuple.settle_alert(answer.id, answer.token, answer.response);
    return next;
    if outcome not in ('DUPLICATE', 'REFUSED') then
      settled := settled || answer.id;
    end if;
  end loop;

  if settled <> '{}' then
    perform uptuple.advance_lanes('{}', settled);
  end if;
end
$function$;

comment on function uptuple.finish_alerts(jsonb) is
  'Report what receivers said: [{"delivery_id", "claim_token", "response": {"status", "retry_after", "excerpt", "error", "latency_ms"}}, ...]. '
  'Answers DELIVERED, RETRY, DEAD, PAUSED, SUSPENDED, DUPLICATE (reported before) or REFUSED (not yours any more) for each.';

revoke execute on function uptuple.finish_alerts(jsonb) from public;
grant execute on function uptuple.finish_alerts(jsonb) to uptuple_worker, uptuple_operator;
