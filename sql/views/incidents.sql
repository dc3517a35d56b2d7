-- Every incident, open ones first, with what was told of it.
create view uptuple.incidents as
select
  incident.id as incident_id,
  service.name as service,
  incident.region,
  case when incident.closed_at is null then 'OPEN' else upper(incident.closed_by) end as state,
  incident.started_at,
  incident.opened_at,
  incident.closed_at,
  coalesce(incident.closed_at, clock_timestamp()) - incident.started_at as down_for,
  incident.code,
  incident.reason,
  incident.withheld_because,
  incident.acknowledged_at,
  incident.acknowledged_by,
  incident.acknowledged_note,
  told.delivered,
  told.unsent,
  told.dead
from uptuple.incident
join uptuple.service on service.id = incident.service_id
cross join lateral (
  select
    count(*) filter (where delivery.state = 'DELIVERED') as delivered,
    count(*) filter (where delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING')) as unsent,
    count(*) filter (where delivery.state = 'DEAD') as dead
  from uptuple.event
  join uptuple.delivery on delivery.event_number = event.id
  where event.incident_id = incident.id
) told
order by (incident.closed_at is null) desc, incident.opened_at desc, incident.id desc;

comment on view uptuple.incidents is
  'Every incident: OPEN, RECOVERED or WITHDRAWN, from its first failed check to its end, who looks after it, why nobody was told of it if so '
  '(withheld_because), and how many of its notices were delivered.';

grant select on uptuple.incidents to uptuple_worker, uptuple_operator, uptuple_viewer;
