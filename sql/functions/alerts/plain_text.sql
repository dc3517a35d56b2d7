-- Text from outside as people may read it: without control characters, and without those that turn the direction of what follows. Reads nothing.
create or replace function uptuple.plain_text(value text)
returns text
language sql
immutable
return regexp_replace(uptuple.printable(value, 8000), '[\u202a-\u202e\u2066-\u2069]', U&'\FFFD', 'g');

comment on function uptuple.plain_text(text) is
  'Text from outside as people may read it: control characters, and those that turn the direction of text, become U+FFFD.';

revoke execute on function uptuple.plain_text(text) from public;
