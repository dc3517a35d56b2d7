-- Everything that can be told. What follows something goes exactly where that went, whatever the routes are by then.
create view uptuple.event_kinds as
select known.kind, known.severity, known.follows, known.meaning
from (
  values
    ('service.failed', 'critical', null::text[], 'an incident opened'),
    ('service.recovered', 'info', '{service.failed,service.escalated}', 'the incident is over'),
    ('service.reminder', 'critical', '{service.failed,service.escalated}', 'it is still down and nobody has acknowledged it'),
    ('service.escalated', 'critical', null, 'nobody has acknowledged it for as long as escalate says'),
    ('incident.acknowledged', 'info', '{service.failed,service.escalated}', 'somebody looks after it'),
    ('service.degraded', 'warning', null, 'it answers, but not as it should'),
    ('service.restored', 'info', '{service.degraded}', 'it answers as it should again'),
    ('service.flapping', 'critical', null, 'it goes up and down; nothing is told until it is stable'),
    ('service.stable', 'info', '{service.flapping}', 'it stopped going up and down'),
    ('service.unknown', 'warning', null, 'there are no verdicts any more'),
    ('service.known', 'info', '{service.unknown}', 'there are verdicts again'),
    ('certificate.expiring', 'warning', null, 'a certificate ends soon'),
    ('worker.quarantined', 'warning', null, 'a runtime''s verdicts do not count, since it seems to be cut off itself'),
    ('worker.trusted', 'info', '{worker.quarantined}', 'a runtime''s verdicts count again'),
    ('deliveries.dead', 'warning', null, 'notices of another channel could not be delivered'),
    ('digest', 'critical', null, 'several failures, or recoveries, in one notice'),
    ('channel.test', 'info', null, 'somebody tries a channel')
) known (kind, severity, follows, meaning);

comment on view uptuple.event_kinds is
  'The kinds of notices, how severe each is, and which of them follow another: those go where that went, whatever the routes are.';

grant select on uptuple.event_kinds to uptuple_worker, uptuple_operator, uptuple_viewer;
