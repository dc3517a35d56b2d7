-- The key of the trouble that an event belongs to, the same for what opens and what ends it: PagerDuty's dedup_key, Opsgenie's alias.
--
-- Letters, digits and hyphens only, so that it can stand in a URL. An event that belongs to no trouble has a key of its own.
-- Reads setting.
create or replace function uptuple.notice_key(event uptuple.event)
returns text
language sql
stable
return 'uptuple-' || (select left(setting.installation_id::text, 8) from uptuple.setting) || '-' || case
  when event.incident_id is not null then 'incident-' || event.incident_id
  when uptuple.notice_subject(event) in ('down', 'degraded', 'flapping', 'unknown', 'certificate') and event.service_id is not null
    then uptuple.notice_subject(event) || '-' || event.service_id
  when uptuple.notice_subject(event) in ('unknown', 'worker')
    then uptuple.notice_subject(event) || '-' || md5(coalesce(event.data ->> 'worker', event.data ->> 'region', ''))
  else 'event-' || event.event_id
end;

comment on function uptuple.notice_key(uptuple.event) is
  'The key of the trouble that an event belongs to, the same for what opens and what ends it, and another one in each installation.';

revoke execute on function uptuple.notice_key(uptuple.event) from public;
