-- The request that tells a Pushover user or group of an event.
--
-- A message takes 1024 characters, a title 250, a URL 512. What is critical passes quiet hours. Reads setting. Called by notice_request.
create or replace function uptuple.render_pushover(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_strip_nulls(json_build_object(
    'token', channel.options ->> 'token',
    'user', channel.options ->> 'user',
    'device', channel.options ->> 'device',
    'sound', channel.options ->> 'sound',
    'title', uptuple.clip(uptuple.notice_title(event), 250),
    'message', coalesce(nullif(uptuple.clip(uptuple.notice_text(event), 1024), ''), uptuple.notice_title(event)),
    'priority', case when event.severity = 'critical' and not uptuple.notice_resolves(event) then 1 else 0 end,
    'timestamp', floor(extract(epoch from event.occurred_at))::bigint,
    'url', case when length(uptuple.notice_url(event)) <= 512 then uptuple.notice_url(event) end,
    'url_title', case when length(uptuple.notice_url(event)) <= 512 then 'Open Uptuple' end
  )),
  '{}',
  '{token,user}'
);

comment on function uptuple.render_pushover(uptuple.event, uptuple.channel) is
  'The request that tells a Pushover user or group of an event.';

revoke execute on function uptuple.render_pushover(uptuple.event, uptuple.channel) from public;
