-- Who holds which lock, since when and until when; a name that is not listed is free. KEPT: it was released, and
-- at_least_for still keeps others off.
create or replace view uptuple.locks as
select
  lock.name,
  case when lock.token is null then 'KEPT' else 'HELD' end as state,
  lock.locked_by,
  lock.locked_at,
  lock.lock_until,
  lock.at_most_for,
  lock.at_least_for
from uptuple.lock
where lock.lock_until > clock_timestamp()
  and lock.lock_until - lock.at_most_for <= clock_timestamp();

comment on view uptuple.locks is
  'Who holds which named lock, since when and until when. A name that is not listed is free. KEPT: released, and '
  'still kept from others by at_least_for.';

grant select on uptuple.locks to uptuple_worker, uptuple_operator, uptuple_viewer;
