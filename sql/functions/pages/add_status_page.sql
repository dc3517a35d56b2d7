-- Make a page for the public, with the services and groups that it shows. Returns its id.
--
-- Nothing is public before: a service appears on no page, and behind no badge, that it was not chosen for. The page called default is /status.
-- Writes status_page and status_page_entry.
create or replace function uptuple.add_status_page(
  slug text default 'default',
  title text default 'Status',
  description text default null,
  services text[] default '{}',
  groups text[] default '{}'
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  new_id bigint;
  chosen text;
begin
  description := nullif(description, '');
  perform uptuple.check_status_page(slug, title, description);
  insert into uptuple.status_page (slug, title, description)
  values (slug, title, description)
  on conflict on constraint status_page_slug_key do nothing
  returning status_page.id into new_id;
  if new_id is null then
    raise exception 'there is already a status page %', quote_literal(slug)
      using errcode = 'unique_violation', hint = 'Choose another slug, or change this one with update_status_page and show_on_status_page.';
  end if;
  foreach chosen in array coalesce(groups, '{}') loop
    perform uptuple.show_on_status_page(slug => slug, group_name => chosen);
  end loop;
  foreach chosen in array coalesce(services, '{}') loop
    perform uptuple.show_on_status_page(slug => slug, service => chosen);
  end loop;
  return new_id;
end
$function$;

comment on function uptuple.add_status_page(text, text, text, text[], text[]) is
  'Make a page for the public at /status/<slug>; the one called default is /status. Shows the given services, and all services of the given '
  'groups, present and future. Returns its id.';

revoke execute on function uptuple.add_status_page(text, text, text, text[], text[]) from public;
grant execute on function uptuple.add_status_page(text, text, text, text[], text[]) to uptuple_operator;
