-- The logo of a status page, with its type; no row if there is none. Reads only.
create or replace function uptuple.status_page_logo(slug text)
returns table (image bytea, type text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select page.logo, page.logo_type from uptuple.status_page page where page.slug = $1 and page.logo is not null;
$function$;

comment on function uptuple.status_page_logo(text) is 'The logo of a status page, and its type.';

revoke execute on function uptuple.status_page_logo(text) from public;
grant execute on function uptuple.status_page_logo(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
