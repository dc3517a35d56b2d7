-- A text cut to so many characters, the last of them an ellipsis if something was cut. Reads nothing.
create or replace function uptuple.clip(value text, max_length integer)
returns text
language sql
immutable
return case when length(value) <= max_length then value else left(value, max_length - 1) || U&'\2026' end;

comment on function uptuple.clip(text, integer) is 'A text cut to so many characters, with an ellipsis at its end if something was cut.';

revoke execute on function uptuple.clip(text, integer) from public;
