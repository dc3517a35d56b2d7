-- The runtimes that share this database.

create table uptuple.worker (
  name text primary key check (name <> '' and length(name) <= 200),
  region text not null,
  roles text[] not null,
  release integer not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  completed_at timestamptz,
  stopped_at timestamptz
);

comment on table uptuple.worker is 'Runtimes as they report themselves. Nothing depends on it: leases alone decide who owns what.';
comment on column uptuple.worker.seen_at is 'Last report. A live runtime reports every few seconds.';
comment on column uptuple.worker.completed_at is 'Last report of accepted completions.';
comment on column uptuple.worker.stopped_at is 'It said that it stops; null while it runs, and for one that was killed.';
