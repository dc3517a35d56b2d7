-- Refuses a pattern that is invalid, or that could take long on some body, since SQL cannot put a time limit on one row.
--
-- Without back-references and look-around, PostgreSQL walks a text once, whatever the pattern: 64 KiB took 150 ms at worst among the
-- known bad ones. A look-ahead walks on from every place: 11 s for ((?=.*x)a|b)*z. Counted repetitions are written out, so their size is bounded.
-- Basic syntax, where \( is a group, and expanded syntax are refused, since these rules are not for them. Reads nothing.
create or replace function uptuple.check_pattern(pattern text, place text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  -- Escapes other than back-references are taken out, so that an escaped parenthesis is none.
  bare constant text := regexp_replace(pattern, '\\[^1-9]', '', 'g');
  fault constant text := case
    when length(pattern) > 500 then format('has %s characters', length(pattern))
    when bare ~ '\\[1-9]' then 'has a back-reference'
    when bare ~ '\(\?<?[=!]' then 'looks ahead or behind'
    when pattern ~ '^\*\*\*' or pattern ~ '^\(\?[a-z]*[beqx]' then 'changes the syntax of patterns'
    when uptuple.pattern_size(pattern) > 2000 then 'has counted repetitions that are too large together'
  end;
begin
  if fault is not null then
    raise exception '% has a pattern that %: %', place, fault, quote_literal(left(pattern, 200))
      using errcode = 'invalid_parameter_value',
            hint = 'A pattern is a POSIX regular expression of up to 500 characters; it starts with (?i) to match either case. '
              'For what must not be there, use not_matches.';
  end if;
  begin
    perform '' ~ pattern;
  exception when others then
    raise exception '% has a pattern that cannot be read: % (%)', place, quote_literal(left(pattern, 200)), sqlerrm
      using errcode = 'invalid_parameter_value', hint = 'A pattern is a POSIX regular expression, such as "^ok$" or "(?i)healthy|degraded".';
  end;
end
$function$;

comment on function uptuple.check_pattern(text, text) is 'Refuses a pattern that is invalid, or that could take long on some body.';

revoke execute on function uptuple.check_pattern(text, text) from public;
