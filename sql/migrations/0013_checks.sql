-- Checks of other kinds than HTTP, services that nobody probes, and what the assertions of a check came to.

alter table uptuple.service_revision
  drop constraint service_revision_kind_check,
  add constraint service_revision_kind_check check (kind in ('http', 'tcp', 'dns', 'certificate', 'postgresql', 'heartbeat'));

alter table uptuple.service add column probed boolean not null default true;

comment on column uptuple.service.probed is
  'False for a heartbeat: the service reports by itself, and no job is made for it.';

drop index uptuple.service_schedule;
create index service_schedule on uptuple.service (interval_seconds, phase_seconds) where enabled and probed;

alter type uptuple.verdict add attribute outcomes jsonb;

comment on type uptuple.verdict is
  'What an observation means. outcomes: of each assertion its text, outcome, what was expected and what was found; null if all of them '
  'hold, if there are none, or if there was nothing to hold them against.';

-- How one assertion came out.
create type uptuple.outcome as (outcome text, found text);

-- A body as JSON, or why it is none.
create type uptuple.json_body as (value jsonb, fault text);
