import type { Sql } from "../../src/database/client.ts";

/**
 * Everything of schema `uptuple` that two installations must have in common, one line of text each, sorted: relations with
 * their columns, constraints, indexes, views, functions, types, triggers; with owners, privileges and comments.
 */
export async function describeSchema(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with ours as (select oid from pg_namespace where nspname = 'uptuple'),
    relation as (select * from pg_class where relnamespace = (select oid from ours) and relkind in ('r', 'p', 'v', 'S', 'm')),
    routine as (select * from pg_proc where pronamespace = (select oid from ours)),
    sorted_acl as (
      select array(select acl::text from unnest(nspacl) as acl order by 1)::text as acl from pg_namespace where nspname = 'uptuple'
    )
    select concat_ws(' ', 'schema', acl) as line from sorted_acl
    union all
    select concat_ws(' ', 'relation', relname, relkind, pg_get_userbyid(relowner), reloptions::text,
      array(select acl::text from unnest(relacl) as acl order by 1)::text, obj_description(oid, 'pg_class'),
      pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid))
    from relation
    union all
    select concat_ws(' ', 'column', relname, row_number() over (partition by relation.oid order by attnum), attname,
      format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, pg_get_expr(adbin, adrelid),
      col_description(relation.oid, attnum))
    from relation
    join pg_attribute on attrelid = relation.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = relation.oid and adnum = attnum
    union all
    select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from pg_constraint where connamespace = (select oid from ours)
    union all
    select pg_get_indexdef(indexrelid) from pg_index join relation on indrelid = relation.oid
    union all
    select concat_ws(' ', 'view', relname, pg_get_viewdef(oid)) from relation where relkind = 'v'
    union all
    select concat_ws(' ', 'function', oid::regprocedure, pg_get_userbyid(proowner),
      array(select acl::text from unnest(proacl) as acl order by 1)::text, obj_description(oid, 'pg_proc'),
      pg_get_functiondef(oid))
    from routine where prokind in ('f', 'p')
    union all
    select concat_ws(' ', 'type', typname, typtype, format_type(typbasetype, typtypmod),
      array(select enumlabel from pg_enum where enumtypid = pg_type.oid order by enumsortorder)::text,
      obj_description(oid, 'pg_type'))
    from pg_type where typnamespace = (select oid from ours) and typtype in ('e', 'd', 'r')
    union all
    select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join relation on tgrelid = relation.oid where not tgisinternal
    order by line`;
  return rows.map(({ line }) => line);
}
