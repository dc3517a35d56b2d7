-- The mail that tells people of an event, and the server that takes it: text and HTML, sent by SMTP.
--
-- The Message-ID is that of the event and never changes, so that a mail that comes twice is known to be one; the mails of one trouble
-- refer to the same id and are shown as one conversation. The subject is one line, whatever an event says. Only login and ca are expanded.
-- Reads setting. Called by notice_request.
create or replace function uptuple.render_email(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return jsonb_strip_nulls(jsonb_build_object(
  'url', channel.url,
  'starttls', coalesce(channel.options ->> 'starttls', 'required'),
  'login', case when channel.options ? 'user'
    then jsonb_build_object('user', channel.options ->> 'user', 'password', channel.options ->> 'password') end,
  'ca', channel.options ->> 'ca',
  'mail', jsonb_build_object(
    'from', channel.options ->> 'from',
    'to', case when jsonb_typeof(channel.options -> 'to') = 'array' then channel.options -> 'to' else jsonb_build_array(channel.options -> 'to') end,
    'subject', uptuple.clip(uptuple.notice_title(event), 200),
    'text', concat_ws(E'\n\n', uptuple.notice_title(event), nullif(uptuple.notice_text(event), ''), uptuple.notice_url(event)),
    'html', concat(
      '<p style="border-left:6px solid ', uptuple.notice_colour(event), ';padding-left:12px;font-size:18px"><strong>',
      uptuple.escape_html(uptuple.notice_title(event)), '</strong></p>',
      '<p>' || replace(uptuple.escape_html(nullif(uptuple.notice_text(event), '')), E'\n', '<br>') || '</p>',
      '<p><a href="' || uptuple.escape_html(uptuple.notice_url(event)) || '">Open Uptuple</a></p>'
    ),
    'date', uptuple.iso_time(event.occurred_at),
    'message_id', '<' || event.event_id || '@' || split_part(channel.options ->> 'from', '@', 2) || '>',
    'references', '<' || uptuple.notice_key(event) || '@' || split_part(channel.options ->> 'from', '@', 2) || '>'
  )
));

comment on function uptuple.render_email(uptuple.event, uptuple.channel) is
  'The mail that tells people of an event, and the SMTP server that takes it: {url, mail, login, starttls, ca}.';

revoke execute on function uptuple.render_email(uptuple.event, uptuple.channel) from public;
