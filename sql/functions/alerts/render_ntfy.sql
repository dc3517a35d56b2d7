-- The request that tells an ntfy topic of an event: published as JSON to the server's root, so that no text has to fit in a header.
--
-- A message takes 4096 bytes before ntfy makes a file of it. Reads setting. Called by notice_request.
create or replace function uptuple.render_ntfy(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, rtrim(channel.url, '/') || '/',
  json_strip_nulls(json_build_object(
    'topic', channel.options ->> 'topic',
    'title', uptuple.clip(uptuple.notice_title(event), 200),
    'message', coalesce(nullif(uptuple.clip(uptuple.notice_text(event), 1000), ''), uptuple.notice_title(event)),
    'priority', case when uptuple.notice_resolves(event) then 3 when event.severity = 'critical' then 5 when event.severity = 'warning' then 4 else 3 end,
    'tags', json_build_array(case
      when uptuple.notice_resolves(event) then 'green_circle'
      when event.severity = 'critical' then 'red_circle'
      when event.severity = 'warning' then 'orange_circle'
      else 'large_blue_circle'
    end),
    'click', uptuple.notice_url(event)
  )),
  case when channel.options ? 'token' then jsonb_build_object('Authorization', 'Bearer ' || (channel.options ->> 'token')) else '{}' end,
  '{topic}'
);

comment on function uptuple.render_ntfy(uptuple.event, uptuple.channel) is
  'The request that publishes an event to an ntfy topic.';

revoke execute on function uptuple.render_ntfy(uptuple.event, uptuple.channel) from public;
