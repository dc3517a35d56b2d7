-- A length of time for people, in its two largest units, the second only if there is something of it. Reads nothing.
create or replace function uptuple.duration_text(seconds numeric)
returns text
language sql
immutable
return regexp_replace(case
  when seconds < 60 then round(seconds) || ' s'
  when seconds < 3600 then div(seconds, 60) || ' min ' || div(mod(seconds, 60), 1) || ' s'
  when seconds < 86400 then div(seconds, 3600) || ' h ' || div(mod(seconds, 3600), 60) || ' min'
  else div(seconds, 86400) || ' d ' || div(mod(seconds, 86400), 3600) || ' h'
end, ' 0 (s|min|h)$', '');

comment on function uptuple.duration_text(numeric) is 'A length of time in seconds for people, such as 5 min 3 s or 2 d 4 h.';

revoke execute on function uptuple.duration_text(numeric) from public;
