-- Every breach of the promises that SQL can see within retention. Empty, always, also after kill -9 of anything at any moment.
--
-- Results are kept for 2 days at least, and their windows start at most about a day before what they caused; notices are kept for 400 days.
create view uptuple.invariant_violations as
select 'two verdicts for one window' as invariant,
  format('service %s, region %s, slot %s has %s', service_id, region, scheduled_slot, count(*)) as breach
from uptuple.result
where purpose <> 'MANUAL'
group by service_id, region, scheduled_slot
having count(*) > 1

union all
select 'two jobs for one window', format('service %s, region %s, slot %s has %s', service_id, region, scheduled_slot, count(*))
from uptuple.job
group by service_id, region, scheduled_slot
having count(*) > 1

union all
select 'a job that is DONE has its result', format('job %s, slot %s', job.id, job.scheduled_slot)
from uptuple.job
where job.state = 'DONE'
  and not exists (
    select from uptuple.result
    where result.service_id = job.service_id and result.region = job.region and result.scheduled_slot = job.scheduled_slot
      and result.purpose <> 'MANUAL' and result.job_id = job.id
  )

union all
select 'a result belongs to a job that is DONE', format('service %s, slot %s, job %s is %s', result.service_id, result.scheduled_slot, job.id, job.state)
from uptuple.result
join uptuple.job on job.id = result.job_id and job.scheduled_slot = result.scheduled_slot
where job.state <> 'DONE'

union all
select 'a RUNNING job has a token and no other has one', format('job %s is %s', id, state)
from uptuple.job
where (state = 'RUNNING') <> (owner_token is not null)

union all
select 'attempts stay within their bound', format('job %s has %s', id, attempts)
from uptuple.job
where attempts not between 0 and 3

union all
select 'a service that reports by itself has no job', format('service %s has job %s', service.id, job.id)
from uptuple.service
join uptuple.job on job.service_id = service.id
where not service.probed

union all
select 'a lease ends within its length', format('job %s is leased until %s', id, due_at)
from uptuple.job
where state = 'RUNNING' and due_at > clock_timestamp() + interval '35 s'

union all
select 'a window is not further ahead than it is made', format('job %s, slot %s', id, scheduled_slot)
from uptuple.job
where state = 'READY' and scheduled_slot > extract(epoch from clock_timestamp() + interval '1 day 1 minute')

union all
select 'a state counts every result that was applied',
  format('service %s, region %s: %s counted, newest applied %s', state.service_id, state.region, state.applied_count, newest.applied_order)
from uptuple.service_state state
cross join lateral (
  select max(result.applied_order) as applied_order
  from uptuple.result
  where result.service_id = state.service_id and result.region = state.region
) newest
where newest.applied_order > state.applied_count

union all
select 'a state goes by the rules of its service', format('service %s, region %s', state.service_id, state.region)
from uptuple.service_state state
join uptuple.service on service.id = state.service_id
where (state.enabled, state.failure_threshold, state.recovery_threshold, state.damping)
  <> (service.enabled, service.failure_threshold, service.recovery_threshold, service.damping)

union all
select 'results are applied one after another', format('service %s, region %s, order %s occurs %s times', service_id, region, applied_order, count(*))
from uptuple.result
where applied_order is not null
group by service_id, region, applied_order
having count(*) > 1

union all
select 'a state is DOWN exactly while its incident is open', format('service %s, region %s is %s, incident %s', state.service_id, state.region, state.status, incident.id)
from uptuple.service_state state
full join (select * from uptuple.incident where closed_at is null) incident
  on incident.service_id = state.service_id and incident.region = state.region
where state.incident_id is distinct from incident.id

union all
select 'an incident that is not withheld has its FAILED, and its RECOVERED once it is closed', format('incident %s lacks %s', incident.id, due.kind)
from uptuple.incident
cross join lateral (
  values ('service.failed', true), ('service.recovered', incident.closed_at is not null)
) due (kind, expected)
where due.expected
  and incident.withheld_because is null
  and coalesce(incident.closed_at, clock_timestamp()) > clock_timestamp() - interval '399 days'
  and not exists (select from uptuple.event where event.incident_id = incident.id and event.kind = due.kind)

union all
select 'a recovery has its failure', format('event %s of incident %s', recovered.id, recovered.incident_id)
from uptuple.event recovered
where recovered.kind = 'service.recovered'
  and recovered.occurred_at > clock_timestamp() - interval '399 days'
  and not exists (
    select from uptuple.event failed
    where failed.incident_id = recovered.incident_id and failed.kind = 'service.failed' and failed.id < recovered.id
  )

union all
select 'nobody is told of an incident that is withheld', format('event %s, a %s of incident %s', event.id, event.kind, incident.id)
from uptuple.incident
join uptuple.event on event.incident_id = incident.id
where incident.withheld_because is not null

union all
select 'a state is flapping exactly while that is open', format('service %s, region %s, flapping %s', state.service_id, state.region, flapping.id)
from uptuple.service_state state
full join (select * from uptuple.flapping where closed_at is null) flapping
  on flapping.service_id = state.service_id and flapping.region = state.region
where state.flapping_id is distinct from flapping.id

union all
select 'nobody is told that a flapping service failed or recovered', format('event %s, a %s during flapping %s', event.id, event.kind, flapping.id)
from uptuple.flapping
join uptuple.incident on incident.service_id = flapping.service_id and incident.region = flapping.region
join uptuple.event on event.incident_id = incident.id and event.kind in ('service.failed', 'service.recovered')
where event.occurred_at > flapping.opened_at and event.occurred_at < flapping.closed_at

union all
select 'nobody is reminded of an incident that somebody looks after', format('event %s, a %s of incident %s', event.id, event.kind, incident.id)
from uptuple.incident
join uptuple.event on event.incident_id = incident.id and event.kind in ('service.reminder', 'service.escalated')
where event.occurred_at > incident.acknowledged_at

union all
select 'nobody is reminded of an incident that is over', format('event %s, a %s of incident %s', event.id, event.kind, event.incident_id)
from uptuple.event
join uptuple.event recovered
  on recovered.incident_id = event.incident_id and recovered.kind = 'service.recovered' and recovered.id < event.id
where event.kind in ('service.failed', 'service.reminder', 'service.escalated', 'incident.acknowledged')

union all
select 'a reminder and a recovery go where the failure went', format('delivery %s', following.id)
from uptuple.delivery following
join uptuple.event on event.id = following.event_number
  and event.kind in ('service.recovered', 'service.reminder', 'incident.acknowledged')
where following.state not in ('SUPERSEDED', 'DISCARDED')
  and event.occurred_at > clock_timestamp() - interval '399 days'
  and not exists (
    select
    from uptuple.delivery told
    join uptuple.event beginning on beginning.id = told.event_number and beginning.kind in ('service.failed', 'service.escalated')
    where told.incident_id = following.incident_id and told.channel_id = following.channel_id and beginning.id < event.id
  )

union all
select 'a notice has the result that caused it', format('event %s, order %s', event.id, event.applied_order)
from uptuple.event
join uptuple.incident on incident.id = event.incident_id
where event.applied_order is not null
  and event.occurred_at > least(
    clock_timestamp() - interval '20 hours',
    (select to_timestamp(min(scheduled_slot)) + interval '1 day' from uptuple.result)
  )
  and not exists (
    select from uptuple.result
    where result.service_id = event.service_id and result.region = incident.region and result.applied_order = event.applied_order
  )

union all
select 'a runtime in quarantine makes no service fail', format('service %s, slot %s, runtime %s', result.service_id, result.scheduled_slot, worker.name)
from uptuple.worker
join uptuple.result on result.worker = worker.name and result.recorded_at > worker.quarantined_at
where result.status = 'DOWN' and result.purpose <> 'MANUAL'

union all
select 'a quarantine has its notice', format('runtime %s, since %s', worker.name, worker.quarantined_at)
from uptuple.worker
where worker.quarantined_at > clock_timestamp() - interval '399 days'
  and not exists (
    select from uptuple.event
    where event.kind = 'worker.quarantined' and event.occurred_at = worker.quarantined_at and event.data ->> 'worker' = worker.name
  )

union all
select 'a notice is sent after the older ones of its lane', format('delivery %s was sent before delivery %s', later.id, earlier.id)
from uptuple.delivery later
join uptuple.delivery earlier
  on earlier.service_id = later.service_id and earlier.channel_id = later.channel_id and earlier.event_number < later.event_number
where later.state = 'DELIVERED'
  and earlier.requeued_at is null
  and earlier.created_at < later.finished_at
  and (earlier.state in ('READY', 'WAITING', 'SENDING') or earlier.state = 'DELIVERED' and earlier.finished_at > later.finished_at)
  and not exists (
    select from uptuple.delivery before
    where before.service_id = earlier.service_id and before.channel_id = earlier.channel_id
      and (before.incident_id = earlier.incident_id or before.event_number = earlier.follows) and before.event_number < earlier.event_number
      and (before.state in ('DEAD', 'DISCARDED') or before.requeued_at is not null)
  )

union all
select 'a recovery is not sent past its dead failure', format('delivery %s was sent, delivery %s is DEAD', later.id, dead.id)
from uptuple.delivery later
join uptuple.delivery dead
  on dead.incident_id = later.incident_id and dead.channel_id = later.channel_id and dead.event_number < later.event_number
where later.state = 'DELIVERED'
  and dead.state = 'DEAD'
  and dead.requeued_at is null

union all
select 'the end of a matter is not sent past its dead beginning', format('delivery %s was sent, delivery %s is DEAD', later.id, dead.id)
from uptuple.delivery later
join uptuple.delivery dead on dead.event_number = later.follows and dead.channel_id = later.channel_id
where later.state = 'DELIVERED'
  and dead.state = 'DEAD'
  and dead.requeued_at is null

union all
select 'a notice that may be sent is the oldest live one of its lane', format('delivery %s is READY beside delivery %s', ready.id, older.id)
from uptuple.delivery ready
join uptuple.delivery older
  on older.service_id = ready.service_id and older.channel_id = ready.channel_id and older.event_number < ready.event_number
join uptuple.channel on channel.id = ready.channel_id
where ready.state = 'READY'
  and (
    older.state in ('READY', 'WAITING', 'SENDING')
    or older.state = 'DEAD'
      and (older.incident_id = ready.incident_id or older.event_number = ready.follows or channel.ordering = 'strict')
  )

union all
select 'a notice that waits has somebody to wait for', format('delivery %s is %s', waiting.id, waiting.state)
from uptuple.delivery waiting
join uptuple.channel on channel.id = waiting.channel_id
where waiting.state in ('WAITING', 'HELD')
  and not exists (
    select from uptuple.delivery older
    where older.service_id = waiting.service_id and older.channel_id = waiting.channel_id and older.event_number < waiting.event_number
      and case waiting.state
        when 'WAITING' then older.state in ('READY', 'SENDING')
          or exists (select from uptuple.delivery digest where digest.id = older.grouped_in and digest.state in ('READY', 'SENDING'))
        else (older.state = 'DEAD' or exists (select from uptuple.delivery digest where digest.id = older.grouped_in and digest.state = 'DEAD'))
          and (older.incident_id = waiting.incident_id or older.event_number = waiting.follows or channel.ordering = 'strict')
      end
  )

  and not exists (
    select from uptuple.delivery digest
    where digest.id = waiting.grouped_in
      and digest.state = any (case waiting.state when 'WAITING' then '{READY,SENDING}'::text[] else '{DEAD}'::text[] end)
  )

union all
select 'what a digest tells shares its fate', format('delivery %s is %s, its digest %s is %s', member.id, member.state, digest.id, digest.state)
from uptuple.delivery member
join uptuple.delivery digest on digest.id = member.grouped_in
where case digest.state
  when 'READY' then member.state in ('READY', 'SENDING')
  when 'SENDING' then member.state in ('READY', 'SENDING')
  when 'DEAD' then member.state in ('READY', 'WAITING', 'SENDING')
  when 'DELIVERED' then member.state in ('READY', 'WAITING', 'HELD', 'SENDING') and member.requeued_at is null
  else false
end

union all
select 'a notice that maintenance holds is not sent before its end', format('delivery %s was sent at %s, and held until %s', id, last_attempt_at, held_until)
from uptuple.delivery
where state in ('SENDING', 'DELIVERED') and last_attempt_at < held_until

union all
select 'what maintenance covers goes by the group and tags that a service has', format('service %s has %s', service.id, count(membership.service_id))
from uptuple.service
left join uptuple.service_membership membership
  on membership.service_id = service.id and upper_inf(membership.during)
  and membership.group_name is not distinct from service.group_name and membership.tags = service.tags
group by service.id
having count(membership.service_id) <> 1

union all
select 'no more posts of a channel are under way than it allows', format('channel %s has %s', channel.id, count(*))
from uptuple.delivery
join uptuple.channel on channel.id = delivery.channel_id
where delivery.state = 'SENDING' and delivery.due_at > clock_timestamp()
group by channel.id
having count(*) > channel.max_in_flight

union all
select 'attempts of a notice stay within their bound', format('delivery %s has %s', delivery.id, delivery.attempts)
from uptuple.delivery
where delivery.attempts not between 0 and 20

union all
select 'a delivery lease ends within its length', format('delivery %s is leased until %s', id, due_at)
from uptuple.delivery
where state = 'SENDING' and due_at > clock_timestamp() + interval '35 s'

union all
select 'a lock is not held longer than its own time', format('lock %s is held until %s, and its time is %s', name, lock_until, at_most_for)
from uptuple.lock
where lock_until > clock_timestamp() + at_most_for + interval '5 s'

union all
select 'two fires of a task at one time', format('task %s, fire at %s has %s', task, fire_at, count(*))
from uptuple.task_run
group by task, fire_at
having count(*) > 1

union all
select 'two runs under one lock at a time', format('lock %s: run %s until %s, run %s from %s', earlier.lock_name, earlier.id, earlier.lease_until, later.id, later.claimed_at)
from uptuple.task_run earlier
join uptuple.task_run later on later.lock_name = earlier.lock_name and later.id <> earlier.id
where earlier.state = 'RUNNING' and later.state = 'RUNNING'
  and (later.claimed_at, later.id) > (earlier.claimed_at, earlier.id)
  and later.claimed_at < earlier.lease_until

union all
select 'a run that is under way holds its lock', format('run %s, lock %s', run.id, run.lock_name)
from uptuple.task_run run
where run.state = 'RUNNING' and run.lease_until > clock_timestamp()
  and not exists (
    select from uptuple.lock
    where lock.name = run.lock_name and lock.token = run.token and lock.lock_until >= run.lease_until
  )

union all
select 'a run SUCCEEDED if and only if its work was committed', format('run %s of %s is %s, executed at %s', id, task, state, executed_at)
from uptuple.task_run
where (state = 'SUCCEEDED') <> (executed_at is not null) and state <> 'RUNNING'

union all
select 'a heartbeat is expected exactly while its service is enabled', format('service %s, due %s', service.id, beat.due_at)
from uptuple.service
left join uptuple.heartbeat beat on beat.service_id = service.id
where not service.probed and service.enabled <> (beat.due_at is not null)

union all
select 'what is overdue is noticed while somebody looks', format('service %s was due at %s', beat.service_id, beat.due_at)
from uptuple.heartbeat beat
cross join uptuple.heartbeat_cursor cursor
where beat.due_at < cursor.checked_at - interval '1 minute';

comment on view uptuple.invariant_violations is
  'Every breach of the promises that SQL can see within retention. It is empty, always.';

grant select on uptuple.invariant_violations to uptuple_worker, uptuple_operator, uptuple_viewer;
