-- Tell somebody: notices go to this URL in the form that its kind wants.
--
-- A new channel gets the FAILED of incidents that are open and nothing else; notices that nobody was there to get are listed as
-- SUPERSEDED. Holds the channel table against write_notices, so that an incident that opens meanwhile is told exactly
-- once. Writes channel and delivery.
create or replace function uptuple.add_channel(
  name text,
  url text default null,
  headers jsonb default '{}',
  signing_secrets text[] default '{}',
  ordering text default 'incident',
  max_attempts integer default null,
  timeout interval default interval '10 seconds',
  kind text default 'webhook',
  options jsonb default '{}'
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  -- A mail server that does not know the sender yet asks him to come back in some minutes, so a mail gets more time.
  attempts constant integer := coalesce(max_attempts, case kind when 'email' then 10 else 5 end);
  new_channel uptuple.channel;
begin
  perform uptuple.check_name('name', name);
  perform uptuple.check_channel(kind, url, options, headers, signing_secrets, ordering, attempts, timeout);

  lock table uptuple.channel in exclusive mode;
  insert into uptuple.channel (
    name, kind, url, options, headers, signing_secrets, ordering, max_attempts, timeout_ms, connect_timeout_ms
  )
  values (
    name, kind, uptuple.channel_url(kind, url), options, headers, signing_secrets, ordering, attempts,
    extract(epoch from timeout) * 1000, least(2000, extract(epoch from timeout) * 1000)
  )
  on conflict do nothing
  returning channel.* into new_channel;

  if not found then
    raise exception 'there is already a channel named %', quote_literal(name)
      using errcode = 'unique_violation', hint = 'Choose another name, or change this one with update_channel.';
  end if;

  perform uptuple.check_rendering(new_channel);
  perform uptuple.tell_open_incidents(new_channel.id);
  insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, finished_at, note)
  select event.id, new_channel.id, event.service_id, event.incident_id, 'SUPERSEDED', clock_timestamp(), 'there was no channel yet'
  from uptuple.event
  where not exists (select from uptuple.delivery where delivery.event_number = event.id)
  order by event.id;
  return new_channel.id;
end
$function$;

comment on function uptuple.add_channel(text, text, jsonb, text[], text, integer, interval, text, jsonb) is
  'Send notices to a URL. Returns the channel''s id. kind is webhook, slack, discord, teams, mattermost, telegram, ntfy, gotify, pushover, '
  'pagerduty, opsgenie, alertmanager, email, or one of your own (a function uptuple.render_<kind>); options are what that kind needs. headers and '
  'url may hold ${UPTUPLE_SECRET_NAME}; signing_secrets name the keys of the Standard Webhooks signature. max_attempts is 5 by default, 10 for '
  'email. Incidents that are open now are told at once; test_channel tries it.';

revoke execute on function uptuple.add_channel(text, text, jsonb, text[], text, integer, interval, text, jsonb) from public;
grant execute on function uptuple.add_channel(text, text, jsonb, text[], text, integer, interval, text, jsonb) to uptuple_operator;
