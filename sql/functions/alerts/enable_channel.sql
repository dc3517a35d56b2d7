-- Send to a channel again: the FAILED of incidents that are open and nothing else. False if it was on and
-- open already; one that is only suspended or paused is opened, so that the next notice tries.
--
-- What waited when it was disabled, and is not such a FAILED, is listed as SUPERSEDED, also what a sender left behind; what
-- is being sent right now may still arrive. A suspension ends. Holds the channel table against write_notices. Writes channel and delivery.
create or replace function uptuple.enable_channel(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  channel uptuple.channel;
  lanes bigint[];
begin
  lock table uptuple.channel in exclusive mode;
  channel := uptuple.find_channel(name);
  if channel.enabled then
    update uptuple.channel opened
    set suspended_at = null, suspended_reason = null, probe_at = null, paused_until = null, transient_failures = 0,
        updated_at = clock_timestamp()
    where opened.id = channel.id and (opened.suspended_at is not null or opened.paused_until > clock_timestamp());
    if found then
      notify uptuple_alerts;
      return true;
    end if;
    return false;
  end if;

  update uptuple.channel changed
  set enabled = true, suspended_at = null, suspended_reason = null, probe_at = null, paused_until = null, transient_failures = 0,
      updated_at = clock_timestamp()
  where changed.id = channel.id;

  lanes := array(
    select distinct delivery.service_id from uptuple.delivery
    where delivery.channel_id = channel.id and delivery.service_id is not null and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING')
  );
  perform uptuple.lock_lanes(lanes);
  update uptuple.delivery
  set state = 'SUPERSEDED', claim_token = null, finished_at = clock_timestamp(), note = 'the channel was disabled'
  from uptuple.event
  where event.id = delivery.event_number
    and delivery.channel_id = channel.id
    and (delivery.state in ('READY', 'WAITING', 'HELD') or delivery.state = 'SENDING' and delivery.due_at <= clock_timestamp())
    and not exists (
      select from uptuple.incident
      where incident.id = event.incident_id and incident.closed_at is null and event.kind in ('service.failed', 'service.escalated')
    );
  perform uptuple.advance_lanes(lanes);
  perform uptuple.tell_open_incidents(channel.id);
  notify uptuple_alerts;
  return true;
end
$function$;

comment on function uptuple.enable_channel(text) is
  'Send to a channel again. It gets the FAILED of open incidents; what else it missed is listed as SUPERSEDED. '
  'One that is only suspended or paused is opened. False if it was enabled and open already.';

revoke execute on function uptuple.enable_channel(text) from public;
grant execute on function uptuple.enable_channel(text) to uptuple_operator;
