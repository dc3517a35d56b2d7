-- Where a channel of a kind sends to, in canonical form: the URL that was given, or the one that all users of the kind's service share.
--
-- Reads nothing. Called by check_channel, add_channel and update_channel.
create or replace function uptuple.channel_url(kind text, url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  chosen constant text := coalesce(url, case kind
    when 'telegram' then 'https://api.telegram.org/'
    when 'ntfy' then 'https://ntfy.sh/'
    when 'pushover' then 'https://api.pushover.net/1/messages.json'
    when 'pagerduty' then 'https://events.pagerduty.com/v2/enqueue'
    when 'opsgenie' then 'https://api.opsgenie.com/'
  end);
begin
  if kind = 'email' then
    return uptuple.smtp_url(chosen);
  end if;
  if chosen is not null and chosen !~* '^https?:' then
    raise exception 'url % does not start with http:// or https://', quote_literal(chosen)
      using errcode = 'invalid_parameter_value', hint = 'Channels post over http or https; mail has a kind of its own: kind => ''email''.';
  end if;
  if kind in ('telegram', 'ntfy', 'gotify', 'opsgenie') and position('?' in chosen) > 0 then
    raise exception 'url % has a query, and must be that of the server alone', quote_literal(chosen)
      using errcode = 'invalid_parameter_value', hint = 'Give the server, such as https://push.example.com/; what else it needs goes into options.';
  end if;
  return uptuple.service_url(chosen);
end
$function$;

comment on function uptuple.channel_url(text, text) is
  'Where a channel of a kind sends to, in canonical form; null becomes the URL that all users of the kind''s service share.';

revoke execute on function uptuple.channel_url(text, text) from public;
