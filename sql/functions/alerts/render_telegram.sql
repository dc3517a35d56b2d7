-- The request that tells a Telegram chat of an event, by a bot: HTML, in which & < > " are escaped.
--
-- A message takes 4096 characters after its entities are read, counted in UTF-16. Reads setting. Called by notice_request.
create or replace function uptuple.render_telegram(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, rtrim(channel.url, '/') || '/bot' || (channel.options ->> 'token') || '/sendMessage',
  json_strip_nulls(json_build_object(
    'chat_id', channel.options ->> 'chat_id',
    'message_thread_id', channel.options -> 'message_thread_id',
    'disable_notification', channel.options -> 'silent',
    'parse_mode', 'HTML',
    'link_preview_options', json_build_object('is_disabled', true),
    'text', concat_ws(E'\n',
      uptuple.notice_sign(event) || ' <b>' || uptuple.escape_html(uptuple.clip(uptuple.notice_title(event), 200)) || '</b>',
      nullif(uptuple.escape_html(uptuple.clip(uptuple.notice_text(event), 3500)), ''),
      '<a href="' || uptuple.escape_html(uptuple.notice_url(event)) || '">Open Uptuple</a>'
    )
  )),
  '{}',
  '{chat_id}'
);

comment on function uptuple.render_telegram(uptuple.event, uptuple.channel) is
  'The request that has a Telegram bot tell a chat of an event.';

revoke execute on function uptuple.render_telegram(uptuple.event, uptuple.channel) from public;
