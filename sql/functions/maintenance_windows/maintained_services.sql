-- The services that a window covers by now, whether or not it is under way.
create or replace function uptuple.maintained_services(window_id bigint)
returns table (service_id bigint, service text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select service.id, service.name
  from uptuple.maintenance_scope scope
  join uptuple.service on service.removed_at is null
    and (scope.everything or service.id = any (scope.service_ids) or service.group_name = any (scope.groups) or service.tags && scope.tags)
  where scope.window_id = $1 and upper_inf(scope.during)
  order by service.name;
$function$;

comment on function uptuple.maintained_services(bigint) is 'The services that a maintenance window, by its number, covers by now.';

revoke execute on function uptuple.maintained_services(bigint) from public;
grant execute on function uptuple.maintained_services(bigint) to uptuple_worker, uptuple_operator, uptuple_viewer;
