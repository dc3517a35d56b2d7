-- Declare dead the notices whose last lease ran out without an answer, and let their lanes go on.
--
-- Nearly always finds none, by the index of what is being sent. A lane of which somebody holds a row is left for the next call, so that a claim never waits
-- for one; the others are locked in the order of ids, and the channel table before them: claim_alerts locks channels next, and add_channel
-- holds that table while it waits for lanes. Called by claim_alerts before it holds anything, and by sweep. Writes delivery and
-- delivery_attempt.
create or replace function uptuple.bury_expired_alerts()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
declare
  at constant timestamptz := clock_timestamp();
  unanswered constant text := 'the last lease ended without an answer';
  expired bigint[];
  free bigint[];
  buried bigint[];
begin
  expired := array(
    select delivery.id
    from uptuple.channel
    join uptuple.delivery on delivery.channel_id = channel.id
    where delivery.claim_token is not null and delivery.due_at <= at and delivery.attempts >= channel.max_attempts
    limit 1000
  );
  if expired = '{}' then
    return 0;
  end if;

  lock table uptuple.channel in row exclusive mode;
  with lane as materialized (
    select given.expired_id, unsettled.id
    from (
      select delivery.id as expired_id, delivery.service_id, delivery.channel_id from uptuple.delivery where delivery.id = any (expired)
      union all
      select delivery.grouped_in, delivery.service_id, delivery.channel_id from uptuple.delivery where delivery.grouped_in = any (expired)
    ) given
    cross join lateral (
      select other.id
      from uptuple.delivery other
      where other.service_id = given.service_id and other.channel_id = given.channel_id
        and other.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
      offset 0
    ) unsettled
    union
    select given.id, given.id from unnest(expired) given (id)
  ),
  locked as materialized (
    select delivery.id
    from uptuple.delivery
    where delivery.id = any (array(select lane.id from lane))
    order by delivery.id
    for no key update skip locked
  )
  select array_agg(given.id) into free
  from unnest(expired) given (id)
  where not exists (
    select from lane where lane.expired_id = given.id and lane.id not in (select locked.id from locked)
  );

  with dead as (
    update uptuple.delivery
    set state = 'DEAD', claim_token = null, finished_at = at, last_status = null, last_answer = unanswered, last_cause = 'lease ended'
    where delivery.id = any (free) and delivery.claim_token is not null and delivery.due_at <= at
    returning delivery.id, delivery.attempts, delivery.worker
  ),
  noted as (
    insert into uptuple.delivery_attempt (delivery_id, attempt, worker, outcome, answer)
    select dead.id, dead.attempts, dead.worker, 'DEAD', unanswered from dead
  )
  select array_agg(dead.id) into buried from dead;

  if buried is null then
    return 0;
  end if;
  perform uptuple.advance_lanes('{}', buried);
  return cardinality(buried);
end
$function$;

comment on function uptuple.bury_expired_alerts() is
  'Declares dead the notices whose last lease ran out without an answer. Returns how many.';

revoke execute on function uptuple.bury_expired_alerts() from public;
grant execute on function uptuple.bury_expired_alerts() to uptuple_worker, uptuple_operator;
