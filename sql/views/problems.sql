-- What is wrong with the monitor itself, and the cure.
create view uptuple.problems as
select problem.severity, problem.problem, problem.cure
from (
  select 1 as rank, 'warning' as severity, 'Nothing is watched yet.' as problem,
    'select uptuple.add_service(name => ''inventory'', url => ''https://example.com/health'');' as cure
  where not exists (select from uptuple.service where removed_at is null)

  union all
  select 2, 'error', 'No runtime is probing: every service will be UNKNOWN.',
    'Start one with deno task start, with probe in UPTUPLE_ROLES.'
  where not exists (select from uptuple.workers where state = 'ALIVE' and 'probe' = any (roles))

  union all
  select 3, 'error', 'No runtime is delivering: notices wait.',
    'Start one with deno task start, with deliver in UPTUPLE_ROLES.'
  where exists (select from uptuple.channel where enabled)
    and not exists (select from uptuple.workers where state = 'ALIVE' and 'deliver' = any (roles))

  union all
  select 4, 'warning', 'Nobody will be told: there is no channel.',
    'select uptuple.add_channel(name => ''ops'', url => ''https://example.com/hook'');'
  where not exists (select from uptuple.channel where enabled)
    and exists (select from uptuple.service where removed_at is null)

  union all
  select 5, 'error', format('The channel %s is suspended: %s', channel.name, channel.suspended_reason),
    format('Mend its receiver, then select uptuple.update_channel(name => %L); it is also probed every five minutes.', channel.name)
  from uptuple.channel
  where channel.enabled and channel.suspended_at is not null

  union all
  select 5, 'warning', format('The channel %s keeps failing: %s', channel.name, channel.last_failure),
    format('Notices are tried again. See select * from uptuple.delivery_attempts where channel = %L; and try it with test_channel.', channel.name)
  from uptuple.channel
  where channel.enabled and channel.suspended_at is null and channel.transient_failures >= 3

  union all
  select 6, 'error', case when count(*) = 1 then 'A notice is dead.' else format('%s notices are dead.', count(*)) end,
    'select * from uptuple.dead_letter_causes; then requeue_alerts(channel, cause) or discard_alerts(reason, channel, cause).'
  from uptuple.delivery
  where delivery.state = 'DEAD'
  having count(*) > 0

  union all
  select 7, 'warning', format('Region %s: %s jobs are due and unclaimed, the oldest for %s s.',
      backlog.region, backlog.due + backlog.leases_ended, round(extract(epoch from backlog.longest_wait))),
    'The runtimes are too slow or too few: start another one.'
  from uptuple.jobs_backlog backlog
  where backlog.longest_wait > interval '10 s' and backlog.due + backlog.leases_ended > 0

  union all
  select 8, 'warning', format('The runtime %s has not been heard of since %s.', worker, uptuple.iso_time(seen_at)),
    'If it was stopped for good, it is forgotten after a day.'
  from uptuple.workers
  where state = 'LOST'

  union all
  select 8, 'warning', format('The runtime %s is in quarantine since %s, and its checks are INCONCLUSIVE: %s', worker, uptuple.iso_time(quarantined_at), quarantine_reason),
    format('Look at the network of its machine. It comes back by itself, or with select uptuple.trust_worker(%L);', worker)
  from uptuple.workers
  where state = 'ALIVE' and trust = 'QUARANTINED'

  union all
  select 9, 'warning', format('A snapshot is held for %s minutes, and keeps vacuum from cleaning up: %s.',
      floor(extract(epoch from snapshot.age) / 60), snapshot.holder),
    'End that transaction, or select pg_terminate_backend(...) with its session''s number; idle_in_transaction_session_timeout prevents it.'
  from uptuple.oldest_snapshot() snapshot
  where snapshot.age > interval '5 minutes'

  union all
  select 10, 'warning', format('Reports are slow: the roll-ups have come no further than %s.', uptuple.iso_time(to_timestamp(mark.rolled_until))),
    'Look at select * from uptuple.task_runs where task = ''uptuple.roll_up''; by hand it is select uptuple.roll_up();'
  from uptuple.roll_up_mark mark
  cross join uptuple.enqueue_cursor cursor
  where mark.rolled_until + 3600 + 1800 < cursor.enqueued_until
    and exists (select from uptuple.service where service.created_at < clock_timestamp() - interval '10 minutes')
) problem
order by problem.rank, problem.problem;

comment on view uptuple.problems is
  'What is wrong with the monitor itself (no service, nobody to tell, suspended channels, dead notices, lost or quarantined runtimes, a backlog, an old snapshot, roll-ups that fall behind), with the cure.';

grant select on uptuple.problems to uptuple_worker, uptuple_operator, uptuple_viewer;
