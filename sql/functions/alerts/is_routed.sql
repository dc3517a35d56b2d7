-- Whether the routes of a channel let through what happens first, such as a failure: everything if it has none.
--
-- An escalation is a route too, of another time: a channel that has nothing else gets what is escalated to it and no more. Reads route.
-- Called by write_events, tell_open_incidents and who_is_told.
create or replace function uptuple.is_routed(
  channel_id bigint,
  kind text,
  severity text,
  service_id bigint,
  group_name text,
  tags text[]
)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
return coalesce(
  (
    select bool_or(
      route.after is null
      and uptuple.route_fits(route, is_routed.service_id, is_routed.group_name, is_routed.tags)
      and array_position('{info,warning,critical}'::text[], is_routed.severity)
        >= array_position('{info,warning,critical}'::text[], route.min_severity)
      and (route.kinds is null or is_routed.kind = any (route.kinds))
    )
    from uptuple.route
    where route.channel_id = is_routed.channel_id
  ),
  true
);

comment on function uptuple.is_routed(bigint, text, text, bigint, text, text[]) is
  'Whether an event of a kind, severity and service goes to a channel by its routes: everything does if it has none.';

revoke execute on function uptuple.is_routed(bigint, text, text, bigint, text, text[]) from public;
