-- Whether what assertions find in the beginning of a body stands, whatever comes after: they look for a text or a pattern that must be
-- there, and no pattern asks for the end of the text or of a word. Reads nothing. Called by judge_check for a body that did not end in time.
create or replace function uptuple.holds_early(assertions jsonb)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $function$
  select not exists (
    select
    from uptuple.assertion_leaves($1) leaf
    where leaf ? 'json'
      or leaf ? 'body' and ((leaf -> 'body') - '{contains,matches}'::text[] <> '{}' or leaf -> 'body' ->> 'matches' ~ '\$|\\[ZMyY]|\[\[:')
  );
$function$;

comment on function uptuple.holds_early(jsonb) is 'Whether what assertions find in the beginning of a body stands, whatever comes after.';

revoke execute on function uptuple.holds_early(jsonb) from public;
grant execute on function uptuple.holds_early(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
