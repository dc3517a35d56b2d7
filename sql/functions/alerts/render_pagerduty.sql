-- The request that tells PagerDuty of an event by its Events API v2: trigger, acknowledge or resolve, with one dedup_key for a trouble.
--
-- A summary takes 1024 characters. Reads setting. Called by notice_request.
create or replace function uptuple.render_pagerduty(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_strip_nulls(json_build_object(
    'routing_key', channel.options ->> 'routing_key',
    'event_action', case
      when uptuple.notice_resolves(event) then 'resolve'
      when event.kind = 'incident.acknowledged' then 'acknowledge'
      else 'trigger'
    end,
    'dedup_key', uptuple.notice_key(event),
    'client', 'Uptuple',
    'client_url', uptuple.notice_url(event),
    'payload', json_build_object(
      'summary', uptuple.clip(concat_ws(': ', uptuple.notice_title(event), nullif(split_part(uptuple.notice_text(event), E'\n', 1), '')), 1024),
      'source', uptuple.clip(coalesce(event.data ->> 'service', event.data ->> 'worker', 'uptuple'), 1024),
      'severity', event.severity,
      'timestamp', uptuple.iso_time(event.occurred_at),
      'component', event.data ->> 'region',
      'group', event.data ->> 'group',
      'class', event.kind,
      'custom_details', event.data
    ),
    'links', case when uptuple.notice_url(event) is not null
      then json_build_array(json_build_object('href', uptuple.notice_url(event), 'text', 'Open Uptuple')) end
  )),
  '{}',
  '{routing_key}'
);

comment on function uptuple.render_pagerduty(uptuple.event, uptuple.channel) is
  'The request that triggers, acknowledges or resolves at PagerDuty what an event is about.';

revoke execute on function uptuple.render_pagerduty(uptuple.event, uptuple.channel) from public;
