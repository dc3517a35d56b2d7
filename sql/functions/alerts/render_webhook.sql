-- The request that tells a webhook of an event: JSON by POST, with the Idempotency-Key and webhook-id that never change.
--
-- The body depends on the frozen event alone, so it is byte-identical in every attempt. The runtime adds the signature and
-- the time of sending, and expands secrets. Reads nothing. Called by claim_alerts for channels of kind webhook.
create or replace function uptuple.render_webhook(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return jsonb_build_object(
  'method', 'POST',
  'url', channel.url,
  'headers', case
      when exists (select from jsonb_object_keys(channel.headers) header where lower(header) = 'content-type') then '{}'
      else jsonb_build_object('Content-Type', 'application/json')
    end
    || channel.headers
    || jsonb_build_object('Idempotency-Key', event.event_id, 'webhook-id', event.event_id),
  'body', json_build_object('type', event.kind, 'timestamp', uptuple.iso_time(event.occurred_at), 'data', event.data)::text
);

comment on function uptuple.render_webhook(uptuple.event, uptuple.channel) is
  'The request that tells a webhook of an event: {method, url, headers, body}. Secrets are not expanded.';

revoke execute on function uptuple.render_webhook(uptuple.event, uptuple.channel) from public;
