-- The request that tells Discord of an event, by a webhook: an embed in the colour of the event.
--
-- Nobody is mentioned by what an event says: allowed_mentions is empty but for the option mention, which goes before what is critical.
-- An embed takes a title of 256 characters and a description of 4096; escaping doubles a text at most. Reads setting. Called by notice_request.
create or replace function uptuple.render_discord(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_strip_nulls(json_build_object(
    'content', case event.severity when 'critical' then channel.options ->> 'mention' end,
    'allowed_mentions', case
      when event.severity <> 'critical' or not channel.options ? 'mention' then '{"parse": []}'
      when channel.options ->> 'mention' ~ '^<@&' then json_build_object('parse', '[]'::json, 'roles', json_build_array(btrim(channel.options ->> 'mention', '<@&>')))
      when channel.options ->> 'mention' ~ '^<@' then json_build_object('parse', '[]'::json, 'users', json_build_array(btrim(channel.options ->> 'mention', '<@>')))
      else '{"parse": ["everyone"]}'::json
    end,
    'embeds', json_build_array(json_build_object(
      'title', uptuple.clip(uptuple.notice_sign(event) || ' ' || uptuple.escape_markdown(uptuple.notice_title(event)), 256),
      'description', nullif(uptuple.escape_markdown(uptuple.clip(uptuple.notice_text(event), 1900)), ''),
      'url', uptuple.notice_url(event),
      'color', ('x' || lpad(ltrim(uptuple.notice_colour(event), '#'), 8, '0'))::bit(32)::integer,
      'timestamp', uptuple.iso_time(event.occurred_at)
    ))
  ))
);

comment on function uptuple.render_discord(uptuple.event, uptuple.channel) is
  'The request that tells a Discord webhook of an event.';

revoke execute on function uptuple.render_discord(uptuple.event, uptuple.channel) from public;
