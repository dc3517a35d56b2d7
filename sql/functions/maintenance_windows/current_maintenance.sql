-- The services that are in maintenance now, until when, and the title of the window that began first.
--
-- Starts from the occurrences that are under way, with those that overlap or follow them, so that where there are none it costs next to
-- nothing, and where everything is in maintenance one pass. As maintenance_between counts. For the view status.
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
  chain tstzrange;
begin
  if not exists (select from uptuple.maintenance_occurrence occurrence where occurrence.cancelled_at is null and occurrence.during @> at) then
    return;
  end if;
  select span into chain
  from unnest((
    select range_agg(occurrence.during)
    from uptuple.maintenance_occurrence occurrence
    where occurrence.cancelled_at is null and occurrence.during && tstzrange(at, null)
  )) span
  where span @> at;

  return query
  select covered.service_id, upper(span), covered.title
  from (
    select membership.service_id, range_agg(part.during) as spans,
      (array_agg(planned.title order by lower(part.during), planned.id) filter (where part.during @> at))[1] as title
    from uptuple.maintenance_occurrence occurrence
    join uptuple.maintenance_window planned on planned.id = occurrence.window_id
    join uptuple.maintenance_scope scope on scope.window_id = planned.id and upper_inf(scope.during)
    join uptuple.service_membership membership
      on upper_inf(membership.during)
      and (
        scope.everything
        or membership.service_id = any (scope.service_ids)
        or membership.group_name = any (scope.groups)
        or membership.tags && scope.tags
      )
    cross join lateral (select occurrence.during * scope.during * membership.during as during) part
    where occurrence.cancelled_at is null and occurrence.during && chain and occurrence.during && tstzrange(at, null)
    group by membership.service_id
  ) covered
  cross join lateral unnest(covered.spans) span
  where span @> at;
end
$function$;

comment on function uptuple.current_maintenance() is 'The services, by id, that are in maintenance now, with its end and title.';

revoke execute on function uptuple.current_maintenance() from public;
grant execute on function uptuple.current_maintenance() to uptuple_worker, uptuple_operator, uptuple_viewer;
