-- Where a person reads more about an event: on the page of its incident, else of its service, else on the first page. Null while nobody
-- has said where the pages are (set_public_url).
--
-- A name stands in the path percent-encoded, but for unreserved characters: chats that read the link as markup find nothing to mark up. A
-- name that is one dot or two cannot be a part of a path, and is given as a parameter; one whose link would be longer than receivers take
-- leads to the first page, since a notice without its page is better than one that is refused. A removed service has no page.
-- Reads setting and service.
create or replace function uptuple.notice_url(event uptuple.event)
returns text
language sql
stable
return (
  select setting.public_url || case
      when event.incident_id is not null then 'incidents/' || event.incident_id
      when service.name in ('.', '..') then 'services?name=' || service.name
      when length(segment.encoded) <= 1000 then 'services/' || segment.encoded
      else ''
    end
  from uptuple.setting
  left join uptuple.service on service.id = event.service_id and service.removed_at is null
  left join lateral (
    select string_agg(
      case when byte.code between 45 and 46 or byte.code between 48 and 57 or byte.code between 65 and 90 or byte.code in (95, 126)
          or byte.code between 97 and 122 then chr(byte.code)
        else '%' || upper(lpad(to_hex(byte.code), 2, '0')) end,
      '' order by byte.position
    ) as encoded
    from (
      select get_byte(convert_to(service.name, 'UTF8'), place.position) as code, place.position
      from generate_series(0, octet_length(service.name) - 1) place (position)
    ) byte
  ) segment on event.incident_id is null
  where event.event_id is not null
);

comment on function uptuple.notice_url(uptuple.event) is
  'Where a person reads more about an event: the page of its incident, else of its service; null without a public URL.';

revoke execute on function uptuple.notice_url(uptuple.event) from public;
