-- Tell somebody: notices go to this URL as JSON by POST.
--
-- A new channel gets the FAILED of incidents that are open and nothing else; notices that nobody was there to get are listed as
-- SUPERSEDED. Holds the channel table against write_notices, so that an incident that opens meanwhile is told exactly
-- once. Writes channel and delivery.
create or replace function uptuple.add_channel(
  name text,
  url text,
  headers jsonb default '{}',
  signing_secrets text[] default '{}',
  ordering text default 'incident',
  max_attempts integer default 5,
  timeout interval default interval '10 seconds'
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  new_id bigint;
begin
  perform uptuple.check_name('name', name);
  perform uptuple.check_channel(url, headers, signing_secrets, ordering, max_attempts, timeout);

  lock table uptuple.channel in exclusive mode;
  insert into uptuple.channel (name, url, headers, signing_secrets, ordering, max_attempts, timeout_ms, connect_timeout_ms)
  values (
    name, uptuple.service_url(url), headers, signing_secrets, ordering, max_attempts,
    extract(epoch from timeout) * 1000, least(2000, extract(epoch from timeout) * 1000)
  )
  on conflict do nothing
  returning channel.id into new_id;

  if new_id is null then
    raise exception 'there is already a channel named %', quote_literal(name)
      using errcode = 'unique_violation', hint = 'Choose another name, or change this one with update_channel.';
  end if;

  perform uptuple.tell_open_incidents(new_id);
  insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, finished_at, note)
  select event.id, new_id, event.service_id, event.incident_id, 'SUPERSEDED', clock_timestamp(), 'there was no channel yet'
  from uptuple.event
  where not exists (select from uptuple.delivery where delivery.event_number = event.id)
  order by event.id;
  return new_id;
end
$function$;

comment on function uptuple.add_channel(text, text, jsonb, text[], text, integer, interval) is
  'Send notices to a URL as JSON by POST. Returns the channel''s id. headers and url may hold ${UPTUPLE_SECRET_NAME}; signing_secrets '
  'name the keys of the Standard Webhooks signature. Incidents that are open now are told at once.';

revoke execute on function uptuple.add_channel(text, text, jsonb, text[], text, integer, interval) from public;
grant execute on function uptuple.add_channel(text, text, jsonb, text[], text, integer, interval) to uptuple_operator;
