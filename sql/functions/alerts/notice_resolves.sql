-- Whether an event ends the trouble that it belongs to. Reads nothing.
create or replace function uptuple.notice_resolves(event uptuple.event)
returns boolean
language sql
immutable
return event.kind in ('service.recovered', 'service.restored', 'service.stable', 'service.known', 'worker.trusted')
  or event.kind = 'digest' and coalesce(event.data ->> 'of' = 'service.recovered', false);

comment on function uptuple.notice_resolves(uptuple.event) is 'Whether an event is the good end of a trouble.';

revoke execute on function uptuple.notice_resolves(uptuple.event) from public;
