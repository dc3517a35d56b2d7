-- The assertions that look at something themselves: those of the list, and those within any and all. Reads nothing. Called where a
-- configuration is derived from its assertions.
create or replace function uptuple.assertion_leaves(assertions jsonb)
returns setof jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
as $function$
  with recursive node (assertion) as (
    select jsonb_array_elements($1)
    union all
    select jsonb_array_elements(coalesce(node.assertion -> 'any', node.assertion -> 'all'))
    from node
    where node.assertion ?| '{any,all}'
  )
  select assertion from node where not assertion ?| '{any,all}';
$function$;

comment on function uptuple.assertion_leaves(jsonb) is 'The assertions of a list that look at something themselves, also those within any and all.';

revoke execute on function uptuple.assertion_leaves(jsonb) from public;
grant execute on function uptuple.assertion_leaves(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
