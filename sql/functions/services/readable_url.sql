-- The URL of a target as a person reads it: a host in punycode in its own script. Reads nothing. Called by the view status and by
-- service_page; inlined, since few have such a host.
create or replace function uptuple.readable_url(url text)
returns text
language sql
immutable
return case when position('xn--' in url) > 0 then uptuple.readable_host(url) else url end;

comment on function uptuple.readable_url(text) is 'The URL of a target as a person reads it: a host in punycode in its own script.';

revoke execute on function uptuple.readable_url(text) from public;
grant execute on function uptuple.readable_url(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
