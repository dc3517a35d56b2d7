-- Note the group and the tags that a service has from now on, and let maintenance cover it by them.
--
-- Nothing happens if they are what they were. A service that leaves what is in maintenance lets its held notices go. Called by
-- add_service and update_service after they have written them, with the service's lock. Writes service_membership and delivery.
create or replace function uptuple.note_membership(service_id bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  present uptuple.service;
  noted uptuple.service_membership;
  at timestamptz;
begin
  select service.* into strict present from uptuple.service where service.id = service_id;
  select membership.* into noted
  from uptuple.service_membership membership
  where membership.service_id = service_id and upper_inf(membership.during);
  if not found then
    insert into uptuple.service_membership (service_id, group_name, tags) values (service_id, present.group_name, present.tags);
    return;
  end if;
  if (noted.group_name, noted.tags) is not distinct from (present.group_name, present.tags) then
    return;
  end if;

  perform uptuple.lock_maintenance();
  at := clock_timestamp();
  update uptuple.service_membership membership
  set during = tstzrange(lower(membership.during), at)
  where membership.service_id = service_id and upper_inf(membership.during);
  insert into uptuple.service_membership (service_id, group_name, tags, during)
  values (service_id, present.group_name, present.tags, tstzrange(at, null));
  perform uptuple.hold_notices();
end
$function$;

comment on function uptuple.note_membership(bigint) is 'Notes the group and tags of a service, by id, from now on, for what maintenance covers.';

revoke execute on function uptuple.note_membership(bigint) from public;
