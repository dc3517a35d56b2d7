-- The request that tells Opsgenie of an event: creates, acknowledges or closes the alert whose alias is the key of the trouble.
--
-- A message takes 130 characters, a description 15000, an entity and a source 512 and 100. Reads setting. Called by notice_request.
create or replace function uptuple.render_opsgenie(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return case
  when uptuple.notice_resolves(event) or event.kind = 'incident.acknowledged' then uptuple.json_request(
    event, channel,
    rtrim(channel.url, '/') || '/v2/alerts/' || uptuple.notice_key(event)
      || case when uptuple.notice_resolves(event) then '/close' else '/acknowledge' end || '?identifierType=alias',
    json_build_object(
      'source', 'Uptuple',
      'note', uptuple.clip(concat_ws(E'\n', uptuple.notice_title(event), nullif(uptuple.notice_text(event), '')), 15000)
    ),
    jsonb_build_object('Authorization', 'GenieKey ' || (channel.options ->> 'api_key'))
  )
  else uptuple.json_request(
    event, channel, rtrim(channel.url, '/') || '/v2/alerts',
    json_strip_nulls(json_build_object(
      'message', uptuple.clip(uptuple.notice_title(event), 130),
      'alias', uptuple.notice_key(event),
      'description', uptuple.clip(concat_ws(E'\n', uptuple.notice_text(event), uptuple.notice_url(event)), 15000),
      'entity', uptuple.clip(event.data ->> 'service', 512),
      'source', 'Uptuple',
      'priority', case event.severity when 'critical' then 'P1' when 'warning' then 'P3' else 'P5' end,
      'details', json_strip_nulls(json_build_object(
        'kind', event.kind, 'service', event.data ->> 'service', 'group', event.data ->> 'group', 'region', event.data ->> 'region',
        'code', event.data ->> 'code', 'event_id', event.event_id::text
      ))
    )),
    jsonb_build_object('Authorization', 'GenieKey ' || (channel.options ->> 'api_key'))
  )
end;

comment on function uptuple.render_opsgenie(uptuple.event, uptuple.channel) is
  'The request that creates, acknowledges or closes at Opsgenie what an event is about.';

revoke execute on function uptuple.render_opsgenie(uptuple.event, uptuple.channel) from public;
