-- How many assertions a list has, those within any and all counted; of a list that has not been validated, too. Reads nothing. Called by
-- check_assertions before it looks at any.
create or replace function uptuple.assertion_count(assertions jsonb)
returns integer
language sql
immutable
set search_path = pg_catalog, pg_temp
as $function$
  with recursive node (assertion, depth) as (
    select entry.value, 1
    from jsonb_array_elements($1) entry (value)
    union all
    select entry.value, node.depth + 1
    from node, jsonb_each(case jsonb_typeof(node.assertion) when 'object' then node.assertion else '{}' end) member,
      jsonb_array_elements(case jsonb_typeof(member.value) when 'array' then member.value else '[]' end) entry (value)
    where member.key in ('any', 'all') and node.depth < 5
  )
  select count(*)::integer from node;
$function$;

comment on function uptuple.assertion_count(jsonb) is 'How many assertions a list has, those within any and all counted.';

revoke execute on function uptuple.assertion_count(jsonb) from public;
