-- Dead notices counted by channel and cause, so that many can be sent again or given up at once.
create view uptuple.dead_letter_causes as
select
  channel.name as channel,
  coalesce(delivery.last_cause, 'HTTP ' || delivery.last_status, 'no answer') as cause,
  count(*) as notices,
  count(distinct delivery.service_id) as services,
  min(delivery.finished_at) as oldest,
  max(delivery.finished_at) as newest,
  (array_agg(delivery.last_answer order by delivery.finished_at desc))[1] as last_answer
from uptuple.delivery
join uptuple.channel on channel.id = delivery.channel_id
where delivery.state = 'DEAD'
group by channel.name, cause
order by notices desc, channel, cause;

comment on view uptuple.dead_letter_causes is
  'Dead notices counted by channel and cause, with the last answer. requeue_alerts(channel, cause) sends them again, discard_alerts(reason, channel, cause) '
  'gives them up.';

grant select on uptuple.dead_letter_causes to uptuple_worker, uptuple_operator, uptuple_viewer;
