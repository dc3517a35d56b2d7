-- The rules of a service beside its state: with a million services, the row of the service is one more cold page for each result.

-- Waits for whoever is changing a service, and takes the tables in the order in which they do.
lock table uptuple.service in share row exclusive mode;

-- The limits of the thresholds are those of uptuple.service, whose copy this is; checked here, they would be so with each result.
alter table uptuple.service_state
  add column enabled boolean not null default true,
  add column failure_threshold integer not null default 3,
  add column recovery_threshold integer not null default 1,
  add column damping boolean not null default true;

update uptuple.service_state state
set enabled = service.enabled,
    failure_threshold = service.failure_threshold,
    recovery_threshold = service.recovery_threshold,
    damping = service.damping
from uptuple.service
where service.id = state.service_id
  and (state.enabled, state.failure_threshold, state.recovery_threshold, state.damping)
    <> (service.enabled, service.failure_threshold, service.recovery_threshold, service.damping);

comment on column uptuple.service_state.enabled is
  'As in service, like the two thresholds and damping: the rules in force, kept beside the state so that a result reads one row and not two. '
  'Written by note_rules in the transaction that changes the service''s.';
comment on column uptuple.service_state.failure_threshold is 'As in service: DOWNs in a row that open an incident.';
comment on column uptuple.service_state.recovery_threshold is 'As in service: UPs in a row that close it.';
comment on column uptuple.service_state.damping is 'As in service.';
