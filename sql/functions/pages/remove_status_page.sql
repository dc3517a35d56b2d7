-- Take a status page away; what it showed is public no longer.
--
-- Readers who have the page open keep what they have. Writes status_page and status_page_entry.
create or replace function uptuple.remove_status_page(slug text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  page constant uptuple.status_page := uptuple.find_status_page(slug);
begin
  delete from uptuple.status_page gone where gone.id = page.id;
  return page.id;
end
$function$;

comment on function uptuple.remove_status_page(text) is 'Take a status page away. Returns the id that it had.';

revoke execute on function uptuple.remove_status_page(text) from public;
grant execute on function uptuple.remove_status_page(text) to uptuple_operator;
