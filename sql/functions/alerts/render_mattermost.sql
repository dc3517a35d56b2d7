-- The request that tells Mattermost of an event, by an incoming webhook: an attachment in the colour of the event.
--
-- Text is Markdown and calls people by @, so both are taken out of what an event says; the option mention, such as @channel, goes before
-- what is critical. Reads setting. Called by notice_request.
create or replace function uptuple.render_mattermost(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_strip_nulls(json_build_object(
    'channel', channel.options ->> 'channel',
    'username', channel.options ->> 'username',
    'text', case event.severity when 'critical' then channel.options ->> 'mention' end,
    'attachments', json_build_array(json_build_object(
      'fallback', replace(uptuple.clip(uptuple.notice_title(event), 300), '@', U&'@\200B'),
      'color', uptuple.notice_colour(event),
      'title', uptuple.notice_sign(event) || ' ' || uptuple.escape_markdown(uptuple.clip(uptuple.notice_title(event), 300)),
      'title_link', uptuple.notice_url(event),
      'text', nullif(uptuple.escape_markdown(uptuple.clip(uptuple.notice_text(event), 3000)), '')
    ))
  ))
);

comment on function uptuple.render_mattermost(uptuple.event, uptuple.channel) is
  'The request that tells a Mattermost incoming webhook of an event.';

revoke execute on function uptuple.render_mattermost(uptuple.event, uptuple.channel) from public;
