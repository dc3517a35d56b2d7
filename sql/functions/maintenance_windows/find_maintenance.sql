-- The maintenance window of that number, with lock_maintenance held, or error UT001; UT002 if it was cancelled.
--
-- Called by the functions that change one.
create or replace function uptuple.find_maintenance(maintenance bigint)
returns uptuple.maintenance_window
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  found_window uptuple.maintenance_window;
begin
  perform uptuple.lock_maintenance();
  select maintenance_window.* into found_window from uptuple.maintenance_window where maintenance_window.id = maintenance;
  if not found then
    raise exception 'there is no maintenance %', coalesce(maintenance::text, 'null')
      using errcode = 'UT001', hint = 'select maintenance, title, state from uptuple.maintenance_windows lists them.';
  end if;
  if found_window.cancelled_at is not null then
    raise exception 'maintenance % was cancelled at %', maintenance, found_window.cancelled_at
      using errcode = 'UT002', hint = 'Plan another one. Nothing was changed.';
  end if;
  return found_window;
end
$function$;

comment on function uptuple.find_maintenance(bigint) is 'The maintenance window of that number, locked; UT001 if there is none, UT002 if it was cancelled.';

revoke execute on function uptuple.find_maintenance(bigint) from public;
