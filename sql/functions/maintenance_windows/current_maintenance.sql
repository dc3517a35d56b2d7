-- The services that are in maintenance now, until when, and the title of the window that began first.
--
-- Starts from the occurrences that are under way, so that where there are none it costs next to nothing. For the view status.
create or replace function uptuple.current_maintenance()
returns table (service_id bigint, until timestamptz, title text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
rows 10
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
begin
  return query
  select covered.service_id, uptuple.maintenance_end(covered.service_id, at), covered.title
  from (
    select maintained.service_id, (array_agg(planned.title order by lower(occurrence.during), planned.id))[1] as title
    from uptuple.maintenance_occurrence occurrence
    join uptuple.maintenance_window planned on planned.id = occurrence.window_id
    cross join lateral uptuple.maintained_services(planned.id) maintained
    where occurrence.cancelled_at is null and occurrence.during @> at
    group by maintained.service_id
  ) covered;
end
$function$;

comment on function uptuple.current_maintenance() is 'The services, by id, that are in maintenance now, with its end and title.';

revoke execute on function uptuple.current_maintenance() from public;
grant execute on function uptuple.current_maintenance() to uptuple_worker, uptuple_operator, uptuple_viewer;
