-- What an assertion expects, in words: '< 3', 'contains "ok"', '200-299'. Reads nothing; called for the text of an assertion and for reports.
create or replace function uptuple.assertion_expected(assertion jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  return (
    select case subject
      when 'status' then assertion ->> 'status'
      when 'any' then (select string_agg(uptuple.assertion_text(part), ' or ' order by place) from jsonb_array_elements(assertion -> 'any') with ordinality entry (part, place))
      when 'all' then (select string_agg(uptuple.assertion_text(part), ' and ' order by place) from jsonb_array_elements(assertion -> 'all') with ordinality entry (part, place))
      else (
        select string_agg(
          case when key = 'exists' and value = 'false' then 'does not exist' when key = 'exists' then 'exists' else key || ' ' || value::text end,
          ' and ' order by key
        )
        from jsonb_each(case when subject in ('header', 'json') then assertion - '{header,json,otherwise,name}'::text[] else assertion -> subject end)
      )
    end
    from uptuple.assertion_subject(assertion) subject
  );
end
$function$;

comment on function uptuple.assertion_expected(jsonb) is 'What an assertion expects, in words.';

revoke execute on function uptuple.assertion_expected(jsonb) from public;
grant execute on function uptuple.assertion_expected(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
