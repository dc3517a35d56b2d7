-- The runtimes that share this database, and whether they are believed.
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
  worker.completed_at,
  case when worker.quarantined_at is null then 'TRUSTED' else 'QUARANTINED' end as trust,
  worker.quarantined_at,
  worker.quarantine_reason,
  worker.canary_at,
  case when worker.canary_answers then 'ANSWERS' when not worker.canary_answers then 'FAILS' end as canary,
  worker.canary_reason
from uptuple.worker
order by worker.name;

comment on view uptuple.workers is
  'The runtimes that share this database: ALIVE, LOST (not heard of for 45 seconds) or STOPPED, with their release. TRUSTED, or QUARANTINED '
  'since when and why: then their results are INCONCLUSIVE. canary is null for one that has none.';

grant select on uptuple.workers to uptuple_worker, uptuple_operator, uptuple_viewer;
