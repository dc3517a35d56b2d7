-- An assertion in words, as it names itself in a reason: its name, or what it looks at and what it expects. Reads nothing.
create or replace function uptuple.assertion_text(assertion jsonb)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $function$
  select coalesce($1 ->> 'name', case subject
    when 'any' then 'any of (' || left(uptuple.assertion_expected($1), 120) || ')'
    when 'all' then 'all of (' || left(uptuple.assertion_expected($1), 120) || ')'
    when 'header' then 'header ' || ($1 ->> 'header') || ' ' || uptuple.assertion_expected($1)
    when 'json' then 'json ' || ($1 ->> 'json') || ' ' || uptuple.assertion_expected($1)
    else subject || ' ' || uptuple.assertion_expected($1)
  end)
  from uptuple.assertion_subject($1) subject;
$function$;

comment on function uptuple.assertion_text(jsonb) is 'An assertion in words, as it names itself in a reason.';

revoke execute on function uptuple.assertion_text(jsonb) from public;
grant execute on function uptuple.assertion_text(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
