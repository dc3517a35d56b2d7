-- Declare dead the notices whose last lease ran out without an answer, and let their lanes go on (semantics 3.4).
--
-- Nearly always finds none, by the claim's index. Locks lanes in the order of ids before it changes them, and the channel table before
-- them: claim_alerts locks channels next, and add_channel holds that table while it waits for lanes. Called by claim_alerts before it holds
-- anything, and by sweep. Writes delivery and delivery_attempt.
create or replace function uptuple.bury_expired_alerts()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  expired bigint[];
begin
  expired := array(
    select delivery.id
    from uptuple.delivery
    join uptuple.channel on channel.id = delivery.channel_id
    where delivery.state = 'SENDING' and delivery.due_at <= at and delivery.attempts >= channel.max_attempts
    limit 1000
  );
  if expired = '{}' then
    return 0;
  end if;

  lock table uptuple.channel in row exclusive mode;
  perform uptuple.lock_lanes('{}', expired);
  with dead as (
    update uptuple.delivery
    set state = 'DEAD', claim_token = null, finished_at = at, last_status = null, last_answer = 'the last lease ended without an answer'
    where delivery.id = any (expired) and delivery.state = 'SENDING' and delivery.due_at <= at
    returning delivery.id, delivery.attempts, delivery.worker
  )
  insert into uptuple.delivery_attempt (delivery_id, attempt, worker, outcome, answer)
  select dead.id, dead.attempts, dead.worker, 'DEAD', 'the last lease ended without an answer' from dead;

  perform uptuple.advance_lanes('{}', expired);
  return cardinality(expired);
end
$function$;

comment on function uptuple.bury_expired_alerts() is
  'Declares dead the notices whose last lease ran out without an answer. Returns how many were found.';

revoke execute on function uptuple.bury_expired_alerts() from public;
grant execute on function uptuple.bury_expired_alerts() to uptuple_worker, uptuple_operator;
