-- Totals that only grow, for metrics: what they count is deleted or forgotten after a while, and they are not.

create table uptuple.counter (
  name text not null,
  labels jsonb not null default '{}' check (jsonb_typeof(labels) = 'object'),
  value double precision not null default 0 check (value >= 0),
  constraint counter_pkey primary key (name, labels)
) with (fillfactor = 50);

comment on table uptuple.counter is
  'Totals since the installation, by name and labels. Written by count; read by metrics. No index on the value, so that each update stays in its page.';
