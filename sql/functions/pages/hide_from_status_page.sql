-- Show a service or a group on a status page no longer.
--
-- False if the page did not name it. From then on it is public nowhere that no other entry names it. Writes status_page_entry.
create or replace function uptuple.hide_from_status_page(slug text default 'default', service text default null, group_name text default null)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  page constant uptuple.status_page := uptuple.find_status_page(slug);
begin
  delete from uptuple.status_page_entry entry
  where entry.page_id = page.id
    and (
      entry.group_name = hide_from_status_page.group_name
      or entry.service_id in (select known.id from uptuple.service known where known.name = service)
    );
  return found;
end
$function$;

comment on function uptuple.hide_from_status_page(text, text, text) is
  'Show a service or a group on a status page no longer. False if the page did not name it: a service may also be there by its group.';

revoke execute on function uptuple.hide_from_status_page(text, text, text) from public;
grant execute on function uptuple.hide_from_status_page(text, text, text) to uptuple_operator;
