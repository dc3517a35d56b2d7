-- The status page with a slug, or UT001. Reads status_page.
create or replace function uptuple.find_status_page(slug text)
returns uptuple.status_page
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  page uptuple.status_page;
begin
  select known.* into page from uptuple.status_page known where known.slug = slug;
  if not found then
    raise exception 'there is no status page %', coalesce(quote_literal(slug), 'null')
      using errcode = 'UT001', hint = 'select slug from uptuple.status_pages; or make it with add_status_page.';
  end if;
  return page;
end
$function$;

comment on function uptuple.find_status_page(text) is 'The status page with a slug, or error UT001.';

revoke execute on function uptuple.find_status_page(text) from public;
