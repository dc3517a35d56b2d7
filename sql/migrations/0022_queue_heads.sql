-- Where each region's queue begins, so that a claim does not walk over what was done before.

alter table uptuple.region
  add column queue_head timestamptz not null default '-infinity',
  add column queue_searched_at timestamptz not null default '-infinity';

comment on column uptuple.region.queue_head is
  'No job that waits or runs was due before this, as enqueue_jobs last saw it: where a claim begins to look. One below it is found when enqueue_jobs next looks from the very beginning, every ten seconds.';
comment on column uptuple.region.queue_searched_at is 'When the head of the queue was last looked for from its very beginning.';
