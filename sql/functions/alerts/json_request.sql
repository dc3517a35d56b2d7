-- A request that posts JSON for a channel: its headers, the ids that never change, and where secrets go in the body.
--
-- URL and headers may name secrets, so no text of an event may stand in them. The body is sent as it is, so that a target that answers
-- "${UPTUPLE_SECRET_NAME}" learns nothing; only the members that secrets_at names are expanded, and those must be the channel's own options.
-- Reads nothing. Called by render functions, also by those that people write themselves.
create or replace function uptuple.json_request(
  event uptuple.event,
  channel uptuple.channel,
  url text,
  body json,
  headers jsonb default '{}',
  secrets_at text[] default '{}'
)
returns jsonb
language sql
stable
return jsonb_build_object(
  'method', 'POST',
  'url', url,
  'headers', case
      when exists (select from jsonb_object_keys(channel.headers) header where lower(header) = 'content-type') then '{}'
      else jsonb_build_object('Content-Type', 'application/json')
    end
    || headers
    || channel.headers
    || jsonb_build_object('Idempotency-Key', event.event_id, 'webhook-id', event.event_id),
  'body', body::text
) || case when secrets_at = '{}' then '{}' else jsonb_build_object('secrets_at', to_jsonb(secrets_at)) end;

comment on function uptuple.json_request(uptuple.event, uptuple.channel, text, json, jsonb, text[]) is
  'A request that posts JSON for a channel: {method, url, headers, body}. secrets_at names members of the body in which secrets are expanded.';

revoke execute on function uptuple.json_request(uptuple.event, uptuple.channel, text, json, jsonb, text[]) from public;
