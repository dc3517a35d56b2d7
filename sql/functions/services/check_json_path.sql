-- Refuses a JSON path that does not parse, or that could take long on some body.
--
-- Of 64 KiB of JSON each step of a path gives no more values than there are in it, except for what is refused here: several subscripts in
-- one pair of brackets, **, or $ twice, keyvalue(), and a comparison of two paths, which compares each with each. like_regex has patterns
-- of its own; matches is for that. Reads nothing; called by check_assertion.
create or replace function uptuple.check_json_path(path text, place text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  bare constant text := regexp_replace(path, '"([^"\\]|\\.)*"', '""', 'g');
  fault constant text := case
    when length(path) > 200 then format('has %s characters', length(path))
    when bare !~ '^\s*((lax|strict)\s+)?\$' then 'does not start with $'
    when bare ~ '\$.*\$' or bare ~ '\$["\w]' then 'has $ more than once, or a variable'
    when bare ~ '\*\*.*\*\*' then 'has ** more than once'
    when bare ~ ',' then 'has several subscripts in one pair of brackets'
    when bare ~ 'like_regex' then 'has like_regex'
    when bare ~ 'keyvalue' then 'has keyvalue()'
    when bare ~ '[<>=][\s(+-]*[@$]' then 'compares with a path on the right'
    when bare ~ '\\|/\*' then 'has a backslash or a comment'
  end;
begin
  if fault is not null then
    raise exception 'assertion % has a path that %: %', place, fault, quote_literal(left(path, 250))
      using errcode = 'invalid_parameter_value', hint = 'For example "$.queue.depth", or "$.checks[*] ? (@.name == \"db\").status".';
  end if;
  begin
    perform path::jsonpath;
  exception when others then
    raise exception 'assertion % has a path that cannot be read: % (%)', place, quote_literal(path), sqlerrm
      using errcode = 'invalid_parameter_value', hint = 'It is an SQL/JSON path, such as "$.queue.depth" or "$.\"queue depth\"[0]".';
  end;
end
$function$;

comment on function uptuple.check_json_path(text, text) is 'Refuses a JSON path that does not parse, or that could take long on some body.';

revoke execute on function uptuple.check_json_path(text, text) from public;
