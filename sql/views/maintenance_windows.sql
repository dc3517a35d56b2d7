-- Every maintenance window that was planned: what state it is in, when it is next, and how much it covers.
create view uptuple.maintenance_windows as
select
  planned.id as maintenance,
  planned.uuid,
  planned.sequence,
  planned.title,
  planned.description,
  case
    when planned.cancelled_at is not null then 'cancelled'
    when occurrence.starts_at <= clock_timestamp() then 'in_progress'
    when occurrence.starts_at is not null then 'scheduled'
    else 'completed'
  end as state,
  coalesce(occurrence.starts_at, case when planned.recurrence = 'ONCE' then planned.starts_at end) as starts_at,
  coalesce(occurrence.ends_at, case when planned.recurrence = 'ONCE' then planned.ends_at end) as ends_at,
  planned.recurrence,
  case planned.recurrence
    when 'WEEKLY' then format('%s %s-%s %s',
      array_to_string(array(
        select day from unnest('{MON,TUE,WED,THU,FRI,SAT,SUN}'::text[]) with ordinality week (day, number)
        where day = any (planned.weekdays) order by number
      ), ','), to_char(planned.from_time, 'HH24:MI'), to_char(planned.until_time, 'HH24:MI'), planned.time_zone)
    when 'CRON' then format('%s for %s, %s', planned.cron, planned.duration, planned.time_zone)
  end as schedule,
  scope.everything,
  array(select service.name from uptuple.service where service.id = any (scope.service_ids) order by service.name) as services,
  scope.groups,
  scope.tags,
  (select count(*) from uptuple.maintained_services(planned.id)) as services_covered,
  planned.created_by,
  planned.created_at,
  planned.changed_by,
  planned.changed_at
from uptuple.maintenance_window planned
join uptuple.maintenance_scope scope on scope.window_id = planned.id and upper_inf(scope.during)
left join lateral (
  select lower(occurrence.during) as starts_at, upper(occurrence.during) as ends_at
  from uptuple.maintenance_occurrence occurrence
  where occurrence.window_id = planned.id and occurrence.cancelled_at is null and upper(occurrence.during) > clock_timestamp()
  order by lower(occurrence.during)
  limit 1
) occurrence on true
order by planned.cancelled_at is not null, occurrence.starts_at, planned.id;

comment on view uptuple.maintenance_windows is
  'Every maintenance window: scheduled, in_progress, completed or cancelled, with the occurrence that is under way or comes next.';
comment on column uptuple.maintenance_windows.maintenance is 'Its number, for change_maintenance, end_maintenance and cancel_maintenance.';
comment on column uptuple.maintenance_windows.services_covered is 'How many services that are watched it covers by now.';

grant select on uptuple.maintenance_windows to uptuple_worker, uptuple_operator, uptuple_viewer;
