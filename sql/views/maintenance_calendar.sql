-- Every occurrence of maintenance, past, present and some weeks ahead: what a status page, a feed or a calendar shows.
create view uptuple.maintenance_calendar as
select
  case
    when planned.recurrence = 'ONCE' then planned.uuid::text
    else format('%s-%s', planned.uuid, floor(extract(epoch from lower(occurrence.during))))
  end as uid,
  planned.id as maintenance,
  planned.uuid,
  planned.sequence,
  planned.title,
  planned.description,
  case
    when occurrence.cancelled_at is not null then 'cancelled'
    when upper(occurrence.during) <= clock_timestamp() then 'completed'
    when lower(occurrence.during) <= clock_timestamp() then 'in_progress'
    else 'scheduled'
  end as state,
  lower(occurrence.during) as starts_at,
  upper(occurrence.during) as ends_at,
  planned.recurrence,
  scope.everything,
  array(select maintained.service from uptuple.maintained_services(planned.id) maintained) as services,
  planned.changed_at
from uptuple.maintenance_occurrence occurrence
join uptuple.maintenance_window planned on planned.id = occurrence.window_id
join uptuple.maintenance_scope scope on scope.window_id = planned.id and upper_inf(scope.during)
order by lower(occurrence.during), occurrence.id;

comment on view uptuple.maintenance_calendar is
  'Every occurrence of maintenance: scheduled, in_progress, completed or cancelled. Ask for a stretch of time: where ends_at > now().';
comment on column uptuple.maintenance_calendar.uid is 'The same for the same occurrence, whatever of it is changed; with sequence, what iCalendar wants.';
comment on column uptuple.maintenance_calendar.services is 'The names of the services that its window covers by now.';

grant select on uptuple.maintenance_calendar to uptuple_worker, uptuple_operator, uptuple_viewer;
