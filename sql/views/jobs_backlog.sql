-- What waits to be claimed and what is being worked, by region.
create view uptuple.jobs_backlog as
select
  region.name as region,
  count(*) filter (where job.state = 'READY' and job.due_at <= clock_timestamp()) as due,
  count(*) filter (where job.state = 'READY' and job.due_at > clock_timestamp()) as ahead,
  count(*) filter (where job.state = 'RUNNING' and job.due_at > clock_timestamp()) as running,
  count(*) filter (where job.state = 'RUNNING' and job.due_at <= clock_timestamp()) as leases_ended,
  coalesce(max(clock_timestamp() - job.due_at) filter (where job.due_at <= clock_timestamp()), interval '0') as longest_wait
from uptuple.region
left join uptuple.job on job.region = region.name and job.state in ('READY', 'RUNNING')
group by region.name
order by region.name;

comment on view uptuple.jobs_backlog is
  'By region: jobs that are due and unclaimed, made ahead, running, and left behind by a worker that died; and how long the oldest has waited.';

grant select on uptuple.jobs_backlog to uptuple_worker, uptuple_operator, uptuple_viewer;
