-- A text that Markdown shows as it is: punctuation that would format or link gets a backslash, and no @ can call anybody.
--
-- The zero-width space behind an @ is for receivers that look for mentions before they read Markdown. Reads nothing.
create or replace function uptuple.escape_markdown(value text)
returns text
language sql
immutable
return replace(
  regexp_replace(regexp_replace(value, '([\\`*_\[\]()#~|<>&])', '\\\1', 'g'), '^(\s*)([-+=])', '\1\\\2', 'gn'),
  '@', U&'@\200B'
);

comment on function uptuple.escape_markdown(text) is 'A text that Markdown shows as it is, without formatting, links and mentions.';

revoke execute on function uptuple.escape_markdown(text) from public;
