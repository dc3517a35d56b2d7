-- What an event says in one line of plain text, whatever its kind: no control characters, not escaped for anything. Reads nothing.
--
-- An event whose data has a title is called that.
create or replace function uptuple.notice_title(event uptuple.event)
returns text
language sql
immutable
return (
  with named as (
    select coalesce(event.data ->> 'service', case when event.data ? 'count' then (event.data ->> 'count') || ' services' end, 'a service')
        || coalesce(' (' || nullif(event.data ->> 'region', 'default') || ')', '') as service,
      event.data ? 'count' and not event.data ? 'service' as are_many
  )
  select regexp_replace(uptuple.plain_text(
    coalesce(
      nullif(btrim(event.data ->> 'title'), ''),
      case event.kind
        when 'service.failed' then named.service || ' is DOWN'
        when 'service.recovered' then named.service || ' is UP again'
        when 'service.reminder' then 'Reminder' || coalesce(' ' || (event.data ->> 'reminder'), '') || ': ' || named.service || ' is still DOWN'
        when 'service.escalated' then 'Escalated: ' || named.service || ' is DOWN and nobody has acknowledged it'
        when 'service.degraded' then named.service || ' is DEGRADED'
        when 'service.restored' then named.service || ' is no longer DEGRADED'
        when 'service.flapping' then named.service || ' is FLAPPING'
        when 'service.stable' then named.service || case when event.data ->> 'status' = 'DOWN' then ' is no longer FLAPPING, but DOWN' else ' is stable again' end
        when 'service.unknown' then named.service || case when named.are_many then ' are UNKNOWN' else ' is UNKNOWN' end
        when 'service.known' then named.service || case when named.are_many then ' are' else ' is' end || ' known again'
        when 'certificate.expiring' then 'The certificate of ' || named.service
          || case when jsonb_typeof(event.data -> 'days_left') = 'number' and event.data -> 'days_left' < '0' then ' has expired' else ' expires soon' end
        when 'worker.quarantined' then 'The runtime ' || coalesce(event.data ->> 'worker', '?') || ' is quarantined'
        when 'worker.trusted' then 'The runtime ' || coalesce(event.data ->> 'worker', '?') || ' is trusted again'
        when 'deliveries.dead' then 'Notices to the channel ' || coalesce(event.data ->> 'channel', '?') || ' are dead'
        when 'incident.acknowledged' then named.service || ': acknowledged by ' || coalesce(event.data ->> 'acknowledged_by', 'somebody')
        when 'digest' then coalesce(event.data ->> 'count', 'Several')
          || case when event.data ->> 'of' = 'service.recovered' then ' services are UP again' else ' services are DOWN' end
        when 'channel.test' then 'This is a test of the channel ' || coalesce(event.data ->> 'channel', '?')
        else event.kind || coalesce(': ' || (event.data ->> 'service'), '')
      end
    )),
    '[[:cntrl:][:space:]]+', ' ', 'g')
  from named
);

comment on function uptuple.notice_title(uptuple.event) is 'What an event says in one line of plain text, whatever its kind.';

revoke execute on function uptuple.notice_title(uptuple.event) from public;
