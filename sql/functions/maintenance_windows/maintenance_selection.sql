-- What a window is to cover, from the names that a person gave: at least one service, group or tag, or everything.
--
-- Services must be there (UT001). Groups and tags need not: what joins them later is covered from then on. Called by plan_maintenance and
-- change_maintenance.
create or replace function uptuple.maintenance_selection(services text[], groups text[], tags text[], everything boolean)
returns uptuple.maintenance_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  chosen uptuple.maintenance_scope;
  name text;
begin
  chosen.everything := coalesce(everything, false);
  chosen.groups := coalesce(groups, '{}');
  chosen.tags := coalesce(tags, '{}');
  chosen.service_ids := '{}';
  foreach name in array coalesce(services, '{}') loop
    chosen.service_ids := chosen.service_ids || uptuple.watched_service(name);
  end loop;
  foreach name in array chosen.groups || chosen.tags loop
    perform uptuple.check_name('groups and tags', name);
  end loop;
  if chosen.everything <> (chosen.service_ids = '{}' and chosen.groups = '{}' and chosen.tags = '{}') then
    raise exception '%', case when chosen.everything
        then 'everything is asked for, and services, groups or tags beside it'
        else 'nothing is chosen that the maintenance is to cover' end
      using errcode = 'invalid_parameter_value',
            hint = 'Give services, groups or tags, such as services => ''{shop}'', or everything => true.';
  end if;
  return chosen;
end
$function$;

comment on function uptuple.maintenance_selection(text[], text[], text[], boolean) is
  'What a window covers, from names. UT001 if there is no service of a name.';

revoke execute on function uptuple.maintenance_selection(text[], text[], text[], boolean) from public;
