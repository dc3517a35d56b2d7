-- Let a window cover something else from an instant on. What is left out stays as it is; everything stands alone.
--
-- The caller, change_maintenance, holds lock_maintenance. Writes maintenance_scope.
create or replace function uptuple.change_scope(
  window_id bigint,
  at timestamptz,
  services text[],
  groups text[],
  tags text[],
  everything boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  present uptuple.maintenance_scope;
  chosen uptuple.maintenance_scope;
begin
  select scope.* into strict present from uptuple.maintenance_scope scope where scope.window_id = window_id and upper_inf(scope.during);
  if everything then
    chosen := uptuple.maintenance_selection(services, groups, tags, true);
  else
    chosen := uptuple.maintenance_selection(
      coalesce(services, array(
        select service.name from uptuple.service where service.id = any (present.service_ids) and service.removed_at is null
      )),
      coalesce(groups, present.groups), coalesce(tags, present.tags), false
    );
  end if;

  update uptuple.maintenance_scope scope
  set during = tstzrange(lower(scope.during), at)
  where scope.window_id = window_id and upper_inf(scope.during);
  insert into uptuple.maintenance_scope (window_id, everything, service_ids, groups, tags, during)
  values (window_id, chosen.everything, chosen.service_ids, chosen.groups, chosen.tags, tstzrange(at, null));
end
$function$;

comment on function uptuple.change_scope(bigint, timestamptz, text[], text[], text[], boolean) is
  'Lets a maintenance window cover something else from an instant on.';

revoke execute on function uptuple.change_scope(bigint, timestamptz, text[], text[], text[], boolean) from public;
