-- Tell somebody: notices go to this URL in the form that its kind wants.
--
-- A new channel gets the FAILED of incidents that are open and nothing else; notices that nobody was there to get are listed as
-- SUPERSEDED. With a first route it is never told what that does not let through. Holds the channel table against write_notices, so that an incident that opens meanwhile is told exactly
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
  options jsonb default '{}',
  services text[] default null,
  groups text[] default null,
  tags text[] default null,
  min_severity text default 'info',
  kinds text[] default null,
  escalate_after interval default null
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
  if escalate_after is not null then
    if kinds is not null or min_severity is distinct from 'info' then
      raise exception 'kinds and min_severity do not go with escalate_after'
        using errcode = 'invalid_parameter_value', hint = 'Only failures are escalated. A route beside is made with uptuple.route.';
    end if;
    perform uptuple.escalate(name, escalate_after, services, groups, tags);
  elsif num_nonnulls(services, groups, tags, kinds) > 0 or min_severity is distinct from 'info' then
    perform uptuple.route(name, services, groups, tags, min_severity, kinds);
  end if;
  perform uptuple.tell_open_incidents(new_channel.id);
  insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, finished_at, note)
  select event.id, new_channel.id, event.service_id, event.incident_id, 'SUPERSEDED', clock_timestamp(), 'there was no channel yet'
  from uptuple.event
  left join uptuple.service on service.id = event.service_id
  where not exists (select from uptuple.delivery where delivery.event_number = event.id)
    and uptuple.is_routed(new_channel.id, event.kind, event.severity, service.id, service.group_name, service.tags)
  order by event.id;
  return new_channel.id;
end
$function$;

comment on function uptuple.add_channel(
  text, text, jsonb, text[], text, integer, interval, text, jsonb, text[], text[], text[], text, text[], interval
) is
  E'Tell somebody. Returns the channel''s id. It gets everything until route says otherwise; incidents that are open now are told at once, and '
  'test_channel tries it. headers and url may hold ${UPTUPLE_SECRET_NAME}. signing_secrets: one or two ${UPTUPLE_SECRET_NAME} with the keys of the '
  'Standard Webhooks signature. ordering: incident (a dead notice holds back what follows it in its incident) or strict (everything later of '
  'its service). max_attempts is 1 to 20, by default 5, of email 10. timeout is 100 ms to 20 seconds, by default 10 seconds.'
  '\n\nservices, groups, tags, min_severity and kinds make its first route, as uptuple.route does; with escalate_after it gets what is escalated '
  'to it, as by uptuple.escalate. So it is told of open incidents only as far as these go.'
  '\n\nkind, where its url leads, and its options (* needed; tokens, keys, passwords and ca are ${UPTUPLE_SECRET_NAME}):'
  '\n  webhook       the receiver''s'
  '\n  slack         the incoming webhook''s; mention (<!channel>, <!here>, <@user>)'
  '\n  discord       the webhook''s; mention (@everyone, @here, <@user>, <@&role>)'
  '\n  teams         the workflow''s'
  '\n  mattermost    the incoming webhook''s; mention (@channel), channel, username'
  '\n  telegram      (has a default) token*, chat_id*, message_thread_id, silent'
  '\n  ntfy          the server''s (default ntfy.sh); topic*, token'
  '\n  gotify        the server''s; token*'
  '\n  pushover      (has a default) token*, user*, device, sound'
  '\n  pagerduty     (has a default) routing_key*'
  '\n  opsgenie      (has a default; https://api.eu.opsgenie.com/ in the EU) api_key*'
  '\n  alertmanager  the receiver''s; receiver'
  '\n  email         smtp://host:587 or smtps://host:465; from*, to* (one or a list), user and password, starttls (required, offered, never), ca;'
  '\n                without headers and signing_secrets'
  '\nOr a kind of your own: a function uptuple.render_<kind>(event, channel) of the schema''s owner, which reads the options that it likes.';

revoke execute on function uptuple.add_channel(
  text, text, jsonb, text[], text, integer, interval, text, jsonb, text[], text[], text[], text, text[], interval
) from public;
grant execute on function uptuple.add_channel(
  text, text, jsonb, text[], text, integer, interval, text, jsonb, text[], text[], text[], text, text[], interval
) to uptuple_operator;
