-- A text as it stands in HTML, between tags and in quoted attributes. Reads nothing.
create or replace function uptuple.escape_html(value text)
returns text
language sql
immutable
return replace(replace(replace(replace(value, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;');

comment on function uptuple.escape_html(text) is 'A text as it stands in HTML, between tags and in quoted attributes.';

revoke execute on function uptuple.escape_html(text) from public;
