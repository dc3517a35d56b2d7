-- Lease up to max_alerts notices that are ready to a worker, each with a fresh token, for 30 s, and rendered as the request to send.
--
-- As claim_jobs: READY and due, or SENDING with an ended lease and attempts left; an attempt counts here. At most max_in_flight of a channel
-- are leased over all runtimes; a paused channel gives none, a suspended one a single probe every five minutes.
-- One whose sender is gone is not sent again before an older one of its lane that was requeued meanwhile.
-- Race, two claims of one channel: the second waits for the first's lock of the channel and counts what it leased. Channels are
-- locked in id order, deliveries with SKIP LOCKED, so a claim never waits for one. Writes channel and delivery.
create or replace function uptuple.claim_alerts(worker text, max_alerts integer default 1)
returns table (
  delivery_id bigint,
  claim_token uuid,
  event_id uuid,
  kind text,
  channel text,
  attempt integer,
  request jsonb,
  signing_secrets text[],
  connect_timeout_ms integer,
  timeout_ms integer,
  lease_ms integer
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  claimer constant text := worker;
  lease constant interval := interval '30 s';
  at constant timestamptz := clock_timestamp();
  candidate bigint;
  target uptuple.channel;
  free_slots integer;
  leased integer;
  remaining integer := max_alerts;
begin
  perform uptuple.check_name('worker', claimer);
  if (max_alerts between 1 and 1000) is not true then
    raise exception 'max_alerts is %, and must be between 1 and 1000', coalesce(max_alerts::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'Claim no more than there are free slots.';
  end if;
  perform uptuple.bury_expired_alerts();

  for candidate in
    select channel.id
    from uptuple.channel
    where channel.enabled
      and coalesce(channel.paused_until <= at, true)
      and coalesce(channel.probe_at <= at, true)
    order by channel.id
  loop
    exit when remaining = 0;
    -- Asked channel by channel, for the head of the index: an EXISTS, here or above, was answered by a walk over all that waits.
    continue when (
      select delivery.due_at > at
      from uptuple.delivery
      where delivery.channel_id = candidate and delivery.state in ('READY', 'SENDING')
      order by delivery.due_at
      limit 1
    ) is not false;
    select channel.* into target from uptuple.channel where channel.id = candidate for no key update;
    continue when not target.enabled or target.paused_until > at or target.probe_at > at;

    select target.max_in_flight - count(*) into free_slots
    from uptuple.delivery
    where delivery.channel_id = target.id and delivery.claim_token is not null and delivery.due_at > at;
    free_slots := least(free_slots, remaining, case when target.suspended_at is not null then 1 end);
    continue when free_slots <= 0;

    return query
    with candidate_delivery as materialized (
      select delivery.id
      from uptuple.delivery
      where delivery.channel_id = target.id
        and delivery.state in ('READY', 'SENDING')
        and delivery.due_at <= at
        and (
          delivery.state = 'READY'
          or delivery.attempts < target.max_attempts and not exists (
            select from uptuple.delivery older
            where older.service_id = delivery.service_id and older.channel_id = delivery.channel_id
              and older.event_number < delivery.event_number
              and older.state in ('READY', 'WAITING', 'SENDING')
          )
        )
      order by delivery.due_at, delivery.id
      limit free_slots
      for no key update skip locked
    ),
    sending as (
      update uptuple.delivery
      set state = 'SENDING',
          claim_token = gen_random_uuid(),
          worker = claimer,
          attempts = delivery.attempts + 1,
          due_at = at + lease,
          last_attempt_at = at
      from candidate_delivery
      where delivery.id = candidate_delivery.id
      returning delivery.id, delivery.claim_token, delivery.event_number, delivery.attempts
    )
    select sending.id, sending.claim_token, event.event_id, event.kind, target.name, sending.attempts::integer,
      uptuple.notice_request(event, target), target.signing_secrets, target.connect_timeout_ms, target.timeout_ms,
      (extract(epoch from lease) * 1000)::integer
    from sending
    join uptuple.event on event.id = sending.event_number;

    get diagnostics leased = row_count;
    remaining := remaining - leased;
    if leased > 0 and target.suspended_at is not null then
      update uptuple.channel set probe_at = at + interval '5 minutes' where channel.id = target.id;
    end if;
  end loop;
end
$function$;

comment on function uptuple.claim_alerts(text, integer) is
  'Lease up to max_alerts notices to a worker for 30 seconds: each with its claim_token and the request to send, secrets not expanded. '
  'Report what the receiver said with finish_alert; give back what was not started with release_alerts.';

revoke execute on function uptuple.claim_alerts(text, integer) from public;
grant execute on function uptuple.claim_alerts(text, integer) to uptuple_worker, uptuple_operator;
