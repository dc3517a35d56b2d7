-- A URL as it may be shown and quoted: without user information and without passwords among its parameters.
--
-- Also of a text that is no URL yet, since errors quote what a person wrote. Reads nothing. Called by the view status and by all that
-- refuses a URL; without a SET, since its body is bound when it is created and the planner inlines it.
create or replace function uptuple.shown_url(url text)
returns text
language sql
immutable
return regexp_replace(
  regexp_replace(url, '^([A-Za-z][A-Za-z0-9+.-]*:/*)[^/?#]*@', '\1***@'),
  '([?&][a-z_.-]*(password|passwd|token|secret)=)[^&#]*', '\1***', 'gi'
);

comment on function uptuple.shown_url(text) is 'A URL without its user information and without passwords among its parameters.';

revoke execute on function uptuple.shown_url(text) from public;
grant execute on function uptuple.shown_url(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
