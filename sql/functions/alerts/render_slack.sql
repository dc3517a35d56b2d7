-- The request that tells Slack of an event, by an incoming webhook: a title, and an attachment in the colour of the event.
--
-- The title is mrkdwn, in which & < > must be escaped and formatting is switched off; the text is a plain_text object, in which nothing is
-- formatted and nobody is mentioned. A section takes 3000 characters. The option mention, such as <!channel>, goes before what is
-- critical. Reads setting. Called by notice_request.
create or replace function uptuple.render_slack(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_build_object(
    'text', concat_ws(' ',
      case event.severity when 'critical' then channel.options ->> 'mention' end,
      uptuple.notice_sign(event),
      replace(replace(replace(uptuple.clip(uptuple.notice_title(event), 300), '&', '&amp;'), '<', '&lt;'), '>', '&gt;')
    ),
    'mrkdwn', false,
    'unfurl_links', false,
    'attachments', json_build_array(json_build_object(
      'color', uptuple.notice_colour(event),
      'fallback', uptuple.clip(uptuple.notice_title(event), 300),
      'blocks', to_json(array_remove(array[
        case when uptuple.notice_text(event) <> '' then jsonb_build_object(
          'type', 'section',
          'text', jsonb_build_object('type', 'plain_text', 'text', uptuple.clip(uptuple.notice_text(event), 3000), 'emoji', false)
        ) end,
        jsonb_build_object(
          'type', 'context',
          'elements', jsonb_build_array(jsonb_build_object(
            'type', 'mrkdwn',
            'text', concat_ws(' ', uptuple.iso_time(event.occurred_at), '<' || uptuple.notice_url(event) || '|Open Uptuple>')
          ))
        )
      ], null))
    ))
  )
);

comment on function uptuple.render_slack(uptuple.event, uptuple.channel) is
  'The request that tells a Slack incoming webhook of an event.';

revoke execute on function uptuple.render_slack(uptuple.event, uptuple.channel) from public;
