-- Uptime and coverage of every service over the last day.
create view uptuple.coverage as
select
  uptimes.service,
  uptimes.expected,
  uptimes.up,
  uptimes.down,
  uptimes.expected - uptimes.up - uptimes.down as gaps,
  uptimes.uptime,
  uptimes.coverage
from uptuple.uptimes() uptimes
order by uptimes.service;

comment on view uptuple.coverage is
  'Uptime and coverage of every service over the last day, as fractions of 1. Gaps (missed, failed, cancelled, inconclusive, absent) are neither up nor down.';

grant select on uptuple.coverage to uptuple_worker, uptuple_operator, uptuple_viewer;
