-- Every channel, whether it works, and what waits for it.
create view uptuple.channels_health as
select
  channel.name,
  channel.kind,
  case
    when not channel.enabled then 'DISABLED'
    when channel.suspended_at is not null then 'SUSPENDED'
    when channel.paused_until > clock_timestamp() then 'PAUSED'
    else 'OPEN'
  end as state,
  channel.suspended_at,
  channel.suspended_reason,
  channel.probe_at as next_probe_at,
  channel.paused_until,
  channel.transient_failures,
  unsent.ready,
  unsent.waiting,
  unsent.held,
  unsent.sending,
  unsent.dead,
  channel.last_success_at,
  channel.last_failure_at,
  channel.last_failure
from uptuple.channel
cross join lateral (
  select
    count(*) filter (where delivery.state = 'READY') as ready,
    count(*) filter (where delivery.state = 'WAITING') as waiting,
    count(*) filter (where delivery.state = 'HELD') as held,
    count(*) filter (where delivery.state = 'SENDING') as sending,
    count(*) filter (where delivery.state = 'DEAD') as dead
  from uptuple.delivery
  where delivery.channel_id = channel.id and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING', 'DEAD')
) unsent
where channel.removed_at is null
order by channel.name;

comment on view uptuple.channels_health is
  'Every channel: OPEN, PAUSED (the receiver asked for it), SUSPENDED (probed every five minutes) or DISABLED, and what waits for it.';

grant select on uptuple.channels_health to uptuple_worker, uptuple_operator, uptuple_viewer;
