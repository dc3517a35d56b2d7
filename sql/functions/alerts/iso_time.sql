-- A moment as every notice writes it: ISO 8601 in UTC with milliseconds, whatever the session's settings.
create or replace function uptuple.iso_time(moment timestamptz)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

comment on function uptuple.iso_time(timestamptz) is 'A moment as ISO 8601 in UTC with milliseconds, such as 2026-11-30T08:15:00.123Z.';

revoke execute on function uptuple.iso_time(timestamptz) from public;
grant execute on function uptuple.iso_time(timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
