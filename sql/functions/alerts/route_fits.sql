-- Whether a route selects a service, or, without one, what concerns no service: only a route that selects every service does.
--
-- Called for each event and channel, so its body is bound when it is created and the planner inlines it. Reads nothing.
create or replace function uptuple.route_fits(route uptuple.route, service_id bigint, group_name text, tags text[])
returns boolean
language sql
immutable
return coalesce(
  (route).service_ids is null and (route).group_names is null and (route).tags is null
    or service_id = any ((route).service_ids)
    or group_name = any ((route).group_names)
    or tags && (route).tags,
  false
);

comment on function uptuple.route_fits(uptuple.route, bigint, text, text[]) is
  'Whether a route selects a service by its id, group or tags; all are null for what concerns no service.';

revoke execute on function uptuple.route_fits(uptuple.route, bigint, text, text[]) from public;
