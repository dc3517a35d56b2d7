-- Uptime and coverage of every service over the last day.
create view uptuple.coverage as
select
  service.name as service,
  uptime.expected,
  uptime.up,
  uptime.down,
  uptime.expected - uptime.up - uptime.down as gaps,
  uptime.uptime,
  uptime.coverage
from uptuple.service
cross join lateral uptuple.uptime(service.name) uptime
where service.removed_at is null
order by service.name;

comment on view uptuple.coverage is
  'Uptime and coverage of every service over the last day, as fractions of 1. Gaps (missed, failed, cancelled, inconclusive, absent) are neither up nor down.';

grant select on uptuple.coverage to uptuple_worker, uptuple_operator, uptuple_viewer;
