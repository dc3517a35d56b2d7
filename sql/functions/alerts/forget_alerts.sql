-- Delete the notices of incidents that are over, settled and older than set_retention says, by default 400 days; nothing unsent is ever
-- deleted.
--
-- Sent, discarded and superseded deliveries go with their attempts, at most 1000 a call, and an event goes with its last delivery. While one
-- delivery of an incident is unsent all of them stay, so that a person sees what it is about. An event that no channel was there for stays.
-- Nearly always finds none, by an index. Called by sweep. Writes delivery, delivery_attempt and event.
create or replace function uptuple.forget_alerts()
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
  before constant timestamptz := clock_timestamp() - (select retention.keep from uptuple.retention where retention.kind = 'notices');
  old bigint[];
begin
  old := array(
    select delivery.id
    from uptuple.delivery
    where delivery.state in ('DELIVERED', 'DISCARDED', 'SUPERSEDED')
      and delivery.finished_at < before
      and not exists (
        select from uptuple.incident
        where incident.id = delivery.incident_id and coalesce(incident.closed_at >= before, true)
      )
      and not exists (
        select
        from uptuple.event
        join uptuple.delivery unsent on unsent.event_number = event.id
        where event.incident_id = delivery.incident_id and unsent.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
      )
    order by delivery.finished_at
    limit 1000
    for update skip locked
  );
  if old = '{}' then
    return 0;
  end if;

  delete from uptuple.delivery_attempt where delivery_attempt.delivery_id = any (old);
  with forgotten as (
    delete from uptuple.delivery where delivery.id = any (old) returning delivery.event_number
  )
  delete from uptuple.event
  using (select distinct forgotten.event_number from forgotten) told
  where event.id = told.event_number
    and not exists (select from uptuple.delivery where delivery.event_number = event.id and delivery.id <> all (old));
  return cardinality(old);
end
$function$;

comment on function uptuple.forget_alerts() is
  'Deletes sent, discarded and superseded notices of incidents that ended longer ago than set_retention says. Returns how many.';

revoke execute on function uptuple.forget_alerts() from public;
grant execute on function uptuple.forget_alerts() to uptuple_worker, uptuple_operator;
