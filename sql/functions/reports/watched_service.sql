-- The id of the service of that name, or error UT001. Unlike find_service it takes no lock: for reports.
create or replace function uptuple.watched_service(name text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  id bigint;
begin
  select service.id into id from uptuple.service where service.name = name and service.removed_at is null;
  if id is null then
    raise exception 'there is no service named %', coalesce(quote_literal(name), 'null')
      using errcode = 'UT001', hint = 'select service from uptuple.status lists the services.';
  end if;
  return id;
end
$function$;

comment on function uptuple.watched_service(text) is 'The id of the service of that name; UT001 if there is none.';

revoke execute on function uptuple.watched_service(text) from public;
