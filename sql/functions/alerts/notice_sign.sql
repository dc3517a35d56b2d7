-- The sign before a title where nothing else shows a colour. Reads nothing.
create or replace function uptuple.notice_sign(event uptuple.event)
returns text
language sql
immutable
return case
  when uptuple.notice_resolves(event) then U&'\+01F7E2'
  when event.severity = 'critical' then U&'\+01F534'
  when event.severity = 'warning' then U&'\+01F7E0'
  else U&'\+01F535'
end;

comment on function uptuple.notice_sign(uptuple.event) is 'A coloured circle: green for a good end, else by the severity.';

revoke execute on function uptuple.notice_sign(uptuple.event) from public;
