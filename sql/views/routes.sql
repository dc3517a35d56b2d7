-- Every route and escalation, and what it selects.
create view uptuple.routes as
select
  route.id as route_id,
  channel.name as channel,
  case when route.after is null then 'ROUTE' else 'ESCALATION' end as kind,
  route.after,
  (
    select array_agg(service.name || case when service.removed_at is null then '' else ' (removed)' end order by service.name)
    from uptuple.service
    where service.id = any (route.service_ids)
  ) as services,
  route.group_names as groups,
  route.tags,
  route.min_severity,
  route.kinds,
  route.created_at,
  route.created_by
from uptuple.route
join uptuple.channel on channel.id = route.channel_id
where channel.removed_at is null
order by channel.name, route.id;

comment on view uptuple.routes is
  'What goes to which channel: the union of its routes, or everything if a channel has none. who_is_told explains it for one service.';

grant select on uptuple.routes to uptuple_worker, uptuple_operator, uptuple_viewer;
