-- Change a status page's address, title or text; what is left out stays.
--
-- An empty description takes it away. A new slug is another address: the old one is not found any more. Writes status_page.
create or replace function uptuple.update_status_page(
  slug text,
  new_slug text default null,
  title text default null,
  description text default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  page constant uptuple.status_page := uptuple.find_status_page(slug);
  wanted_text constant text := nullif(coalesce(description, page.description), '');
begin
  perform uptuple.check_status_page(coalesce(new_slug, page.slug), coalesce(title, page.title), wanted_text);
  begin
    update uptuple.status_page changed
    set slug = coalesce(new_slug, page.slug),
        title = coalesce(title, page.title),
        description = wanted_text,
        updated_at = clock_timestamp()
    where changed.id = page.id;
  exception when unique_violation then
    raise exception 'there is already a status page %', quote_literal(new_slug)
      using errcode = 'unique_violation', hint = 'Choose another new_slug.';
  end;
  return page.id;
end
$function$;

comment on function uptuple.update_status_page(text, text, text, text) is
  'Change the address, title or text of a status page; what is left out stays, an empty description takes it away. Returns its id.';

revoke execute on function uptuple.update_status_page(text, text, text, text) from public;
grant execute on function uptuple.update_status_page(text, text, text, text) to uptuple_operator;
