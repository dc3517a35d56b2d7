-- The runtimes that share this database.
create view uptuple.workers as
select
  worker.name as worker,
  case
    when worker.stopped_at is not null then 'STOPPED'
    when worker.seen_at < clock_timestamp() - interval '45 s' then 'LOST'
    else 'ALIVE'
  end as state,
  worker.region,
  worker.roles,
  worker.release,
  worker.started_at,
  worker.seen_at,
  worker.completed_at
from uptuple.worker
order by worker.name;

comment on view uptuple.workers is 'The runtimes that share this database: ALIVE, LOST (not heard of for 45 seconds) or STOPPED, with their release.';

grant select on uptuple.workers to uptuple_worker, uptuple_operator, uptuple_viewer;
