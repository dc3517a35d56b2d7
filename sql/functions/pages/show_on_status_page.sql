-- Show a service, or all services of a group, on a status page; again to change its name there or its place.
--
-- A group need not have a service yet. Entries of the same place stand in the order of their names. Writes status_page_entry.
create or replace function uptuple.show_on_status_page(
  slug text default 'default',
  service text default null,
  group_name text default null,
  as_name text default null,
  place integer default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  page constant uptuple.status_page := uptuple.find_status_page(slug);
  chosen_service bigint;
begin
  if num_nonnulls(service, group_name) <> 1 then
    raise exception 'show_on_status_page was given % a service and a group', case when service is null then 'neither' else 'both' end
      using errcode = 'invalid_parameter_value', hint = 'Give one of them, for example service => ''inventory''.';
  end if;
  if as_name is not null then
    perform uptuple.check_name('as_name', as_name);
  end if;
  if service is not null then
    chosen_service := (uptuple.find_service(service)).id;
  else
    perform uptuple.check_name('group_name', group_name);
  end if;

  update uptuple.status_page_entry entry
  set shown_name = coalesce(as_name, entry.shown_name), position = coalesce(place, entry.position)
  where entry.page_id = page.id and (entry.service_id = chosen_service or entry.group_name = show_on_status_page.group_name);
  if not found then
    insert into uptuple.status_page_entry (page_id, service_id, group_name, shown_name, position)
    values (page.id, chosen_service, group_name, as_name, coalesce(place, 0));
  end if;
  update uptuple.status_page changed set updated_at = clock_timestamp() where changed.id = page.id;
end
$function$;

comment on function uptuple.show_on_status_page(text, text, text, text, integer) is
  'Show a service or a group on a status page, under another name if as_name says so. Smaller places come first. Call it again to change either.';

revoke execute on function uptuple.show_on_status_page(text, text, text, text, integer) from public;
grant execute on function uptuple.show_on_status_page(text, text, text, text, integer) to uptuple_operator;
