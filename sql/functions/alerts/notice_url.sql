-- Where a person reads more about an event, or null while nobody has said where the pages are (set_public_url). Reads setting.
create or replace function uptuple.notice_url(event uptuple.event)
returns text
language sql
stable
return (select setting.public_url from uptuple.setting where event.event_id is not null);

comment on function uptuple.notice_url(uptuple.event) is 'Where a person reads more about an event; null without a public URL.';

revoke execute on function uptuple.notice_url(uptuple.event) from public;
