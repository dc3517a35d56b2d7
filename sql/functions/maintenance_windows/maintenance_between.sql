-- When a service is in maintenance: all stretches that touch the time between two instants, those that overlap or meet as one.
--
-- The one definition: an occurrence that was not cancelled, as long as its window covered the group, the tags or the service itself as they were
-- at the time. Stretches are given whole, also what of them lies outside of the two instants. Looked up one from another through OFFSET 0,
-- so that nothing is read of the service unless an occurrence is there. Called by in_maintenance and the reports. Reads maintenance_occurrence, maintenance_scope, service_membership.
create or replace function uptuple.maintenance_between(service_id bigint, since timestamptz, until timestamptz)
returns tstzmultirange
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_variable
declare
  asked constant tstzrange := tstzrange(since, greatest(since, until), '[]');
begin
  return (
    select coalesce(range_agg(occurrence.during * scope.during * membership.during), '{}')
    from (
      select occurrence.window_id, occurrence.during
      from uptuple.maintenance_occurrence occurrence
      where occurrence.cancelled_at is null and occurrence.during && asked
      offset 0
    ) occurrence
    cross join lateral (
      select scope.*
      from uptuple.maintenance_scope scope
      where scope.window_id = occurrence.window_id and scope.during && occurrence.during
      offset 0
    ) scope
    cross join lateral (
      select membership.*
      from uptuple.service_membership membership
      where membership.service_id = service_id and membership.during && occurrence.during
      offset 0
    ) membership
    where scope.everything
      or service_id = any (scope.service_ids)
      or membership.group_name = any (scope.groups)
      or membership.tags && scope.tags
  );
end
$function$;

comment on function uptuple.maintenance_between(bigint, timestamptz, timestamptz) is
  'The stretches of maintenance of a service, by id, that touch the time between two instants, each whole.';

revoke execute on function uptuple.maintenance_between(bigint, timestamptz, timestamptz) from public;
