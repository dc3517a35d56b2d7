-- An assertion in words, as it names itself in a reason: its name, or what it looks at and what it expects. Reads nothing.
create or replace function uptuple.assertion_text(assertion jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  return (
    select coalesce(assertion ->> 'name', case subject
      when 'any' then 'any of (' || left(uptuple.assertion_expected(assertion), 120) || ')'
      when 'all' then 'all of (' || left(uptuple.assertion_expected(assertion), 120) || ')'
      when 'header' then 'header ' || (assertion ->> 'header') || ' ' || uptuple.assertion_expected(assertion)
      when 'json' then 'json ' || (assertion ->> 'json') || ' ' || uptuple.assertion_expected(assertion)
      else subject || ' ' || uptuple.assertion_expected(assertion)
    end)
    from uptuple.assertion_subject(assertion) subject
  );
end
$function$;

comment on function uptuple.assertion_text(jsonb) is 'An assertion in words, as it names itself in a reason.';

revoke execute on function uptuple.assertion_text(jsonb) from public;
grant execute on function uptuple.assertion_text(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
