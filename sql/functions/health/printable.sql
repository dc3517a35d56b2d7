-- Text from outside made fit to store and show: control characters become U+FFFD, length is bounded. Null stays null.
--
-- NUL and invalid UTF-8 cannot get this far, the runtime replaces them. Reads nothing. Called wherever such text is stored; without a SET,
-- since its body is bound when it is created and the planner inlines it.
create or replace function uptuple.printable(value text, max_length integer)
returns text
language sql
immutable
return left(regexp_replace(value, '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]', U&'\FFFD', 'g'), max_length);

comment on function uptuple.printable(text, integer) is
  'Text from outside without control characters (they become U+FFFD) and cut to a length.';

revoke execute on function uptuple.printable(text, integer) from public;
grant execute on function uptuple.printable(text, integer) to uptuple_worker, uptuple_operator, uptuple_viewer;
