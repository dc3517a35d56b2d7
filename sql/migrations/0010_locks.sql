-- Named locks: work that one instance at a time may do.

create table uptuple.lock (
  name text constraint lock_pkey primary key check (name <> '' and length(name) <= 200),
  token uuid,
  locked_by text not null,
  locked_at timestamptz not null,
  at_most_for interval not null,
  at_least_for interval not null,
  lock_until timestamptz not null,
  check (at_most_for > interval '0 s' and at_least_for between interval '0 s' and at_most_for)
) with (fillfactor = 50);

comment on table uptuple.lock is
  'One row for each name that was ever locked; never deleted, so that there is no moment at which a name is neither '
  'free nor held. '
  'Use acquire_lock, extend_lock and release_lock.';
comment on column uptuple.lock.token is 'Proves the holder. Null once it was released.';
comment on column uptuple.lock.at_most_for is
  'Of the acquisition or of the last extension. Seconds only: no days, no months.';
comment on column uptuple.lock.lock_until is
  'Nobody else gets it before. Further ahead than at_most_for (a clock was set back) it is void, and the lock is free.';
