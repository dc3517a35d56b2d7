-- The colour of an event where a receiver shows one, as #rrggbb: green for a good end, else by its severity. Reads nothing.
create or replace function uptuple.notice_colour(event uptuple.event)
returns text
language sql
immutable
return case
  when uptuple.notice_resolves(event) then '#2e7d32'
  when event.severity = 'critical' then '#c62828'
  when event.severity = 'warning' then '#ef6c00'
  else '#1565c0'
end;

comment on function uptuple.notice_colour(uptuple.event) is 'The colour of an event as #rrggbb: green for a good end, else by its severity.';

revoke execute on function uptuple.notice_colour(uptuple.event) from public;
