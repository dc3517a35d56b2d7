-- The service of that name, locked against other changes of its configuration, or error UT001.
--
-- Called by the functions that change a service. Services that were removed are not found: their name is free.
create or replace function uptuple.find_service(name text)
returns uptuple.service
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  found_service uptuple.service;
begin
  select service.* into found_service
  from uptuple.service
  where service.name = name and service.removed_at is null
  for no key update;

  if not found then
    raise exception 'there is no service named %', coalesce(quote_literal(name), 'null')
      using errcode = 'UT001', hint = 'select service from uptuple.status lists the services.';
  end if;
  return found_service;
end
$function$;

comment on function uptuple.find_service(text) is 'The service of that name, locked; UT001 if there is none.';

revoke execute on function uptuple.find_service(text) from public;
