-- The request that tells Gotify of an event, as an application of its own. Reads setting. Called by notice_request.
create or replace function uptuple.render_gotify(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, rtrim(channel.url, '/') || '/message',
  json_strip_nulls(json_build_object(
    'title', uptuple.clip(uptuple.notice_title(event), 300),
    'message', coalesce(nullif(uptuple.clip(uptuple.notice_text(event), 4000), ''), uptuple.notice_title(event)),
    'priority', case when uptuple.notice_resolves(event) then 4 when event.severity = 'critical' then 8 when event.severity = 'warning' then 5 else 4 end,
    'extras', json_build_object(
      'client::display', json_build_object('contentType', 'text/plain'),
      'client::notification', case when uptuple.notice_url(event) is not null
        then json_build_object('click', json_build_object('url', uptuple.notice_url(event))) end
    )
  )),
  jsonb_build_object('X-Gotify-Key', channel.options ->> 'token')
);

comment on function uptuple.render_gotify(uptuple.event, uptuple.channel) is
  'The request that tells a Gotify server of an event.';

revoke execute on function uptuple.render_gotify(uptuple.event, uptuple.channel) from public;
