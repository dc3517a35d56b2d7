-- Certificates as services showed them, and what is known of a runtime whose eyes are in doubt.

create table uptuple.service_certificate (
  service_id bigint not null references uptuple.service,
  region text not null,
  fingerprint text not null,
  not_after timestamptz not null,
  subject text,
  issuer text,
  names text[] not null default '{}',
  revision integer not null,
  first_seen_at timestamptz not null,
  next_notice_at timestamptz,
  primary key (service_id, region)
);

comment on table uptuple.service_certificate is
  'The certificate that each service showed last. Written only when it is another one, or when a notice about it falls due.';
comment on column uptuple.service_certificate.fingerprint is 'SHA-256 of the certificate; its end, where a check reported no fingerprint.';
comment on column uptuple.service_certificate.revision is 'The service''s configuration under which it was seen.';
comment on column uptuple.service_certificate.next_notice_at is 'When the next notice about it falls due; null after the last.';

alter table uptuple.job add column avoid_worker text;
comment on column uptuple.job.avoid_worker is
  'A runtime that lets others go first: it has just seen this service fail, and another one is to look.';

alter table uptuple.service_state add column failing_workers text[];
comment on column uptuple.service_state.failing_workers is
  'Who said DOWN in the present failure streak: the first two different ones. Without meaning while there is no streak.';

alter table uptuple.worker
  add column unanswered integer not null default 0,
  add column canary_at timestamptz,
  add column canary_answers boolean,
  add column canary_reason text,
  add column quarantined_at timestamptz,
  add column quarantine_cause text check (quarantine_cause in ('canary', 'contradicted')),
  add column quarantine_reason text,
  add column quarantines integer not null default 0,
  add column agreements integer not null default 0,
  add column sampled_at timestamptz,
  add column trusted_at timestamptz,
  add constraint worker_quarantine_check check (
    (quarantined_at is null) = (quarantine_cause is null) and (quarantined_at is null) = (quarantine_reason is null)
  );

-- Empty but for the rare one, so that asking whether there is any costs each batch a microsecond.
create index worker_quarantined on uptuple.worker (name) where quarantined_at is not null;

comment on table uptuple.worker is
  'Runtimes as they report themselves. Leases alone decide who owns what; what is here decides whom to believe.';
comment on column uptuple.worker.unanswered is 'Probes in a row, up to its last report, that nothing answered.';
comment on column uptuple.worker.canary_at is 'When it last reported how its canary is; null if it has none.';
comment on column uptuple.worker.quarantined_at is 'Since when its results are INCONCLUSIVE; null while it is trusted.';
comment on column uptuple.worker.quarantine_cause is 'canary: its probes and its canary fail. contradicted: others see services up that it sees down.';
comment on column uptuple.worker.quarantines is 'How often it was quarantined, each time less than an hour after the last. The more often, the more it takes to be trusted again.';
comment on column uptuple.worker.agreements is 'How often in a row its canary answered or its verdicts agreed, since it was quarantined.';
comment on column uptuple.worker.sampled_at is 'When it last got a job to be judged by, while others do the work.';
comment on column uptuple.worker.trusted_at is 'When its last quarantine ended.';

create table uptuple.worker_contradiction (
  worker text not null,
  contradicted_by text not null,
  service_id bigint not null,
  noted_at timestamptz not null,
  primary key (worker, contradicted_by, service_id)
);

create index worker_contradiction_by on uptuple.worker_contradiction (contradicted_by);

comment on table uptuple.worker_contradiction is
  'One runtime said DOWN, and the next check of that service, by another one, UP. Forgotten after two minutes.';

create table uptuple.second_look (
  service_id bigint not null,
  region text not null,
  worker text not null,
  noted_at timestamptz not null,
  primary key (service_id, region)
);

comment on table uptuple.second_look is
  'Failing services whose next window, not made yet, is to go to another runtime than the one that saw them fail. Nearly always empty.';
