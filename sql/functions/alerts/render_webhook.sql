-- The request that tells a webhook of an event: JSON by POST in the form of Standard Webhooks.
--
-- The body depends on the frozen event alone, so it is byte-identical in every attempt. The runtime adds the signature and
-- the time of sending, and expands secrets. Reads nothing. Called by notice_request for channels of kind webhook.
create or replace function uptuple.render_webhook(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_build_object('type', event.kind, 'timestamp', uptuple.iso_time(event.occurred_at), 'data', event.data)
);

comment on function uptuple.render_webhook(uptuple.event, uptuple.channel) is
  'The request that tells a webhook of an event: {method, url, headers, body}. Secrets are not expanded.';

revoke execute on function uptuple.render_webhook(uptuple.event, uptuple.channel) from public;
