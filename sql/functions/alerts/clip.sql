-- A text cut to a length, the last character an ellipsis if something was cut. Reads nothing.
--
-- The length is counted in UTF-16, as the strictest receivers do, where a character beyond the basic plane counts as two; a text that has such
-- characters and must be cut is cut to half as many characters, which is never too long.
create or replace function uptuple.clip(value text, max_length integer)
returns text
language sql
immutable
return case
  when length(value) + length(regexp_replace(value, '[^\U00010000-\U0010ffff]', '', 'g')) <= max_length then value
  when left(value, max_length) ~ '[\U00010000-\U0010ffff]' then left(value, max_length / 2 - 1) || U&'\2026'
  else left(value, max_length - 1) || U&'\2026'
end;

comment on function uptuple.clip(text, integer) is 'A text cut to a length in UTF-16, with an ellipsis at its end if something was cut.';

revoke execute on function uptuple.clip(text, integer) from public;
