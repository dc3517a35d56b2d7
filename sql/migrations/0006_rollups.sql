-- What is kept of checks when the checks themselves are gone: totals by hour and by day, and how long everything is kept.

create table uptuple.service_hour (
  service_id bigint not null references uptuple.service,
  hour timestamptz not null,
  latency_sum_us bigint not null,
  expected integer not null,
  up integer not null,
  degraded integer not null,
  down integer not null,
  inconclusive integer not null,
  missed integer not null,
  failed integer not null,
  canceled integer not null,
  latency_count integer not null,
  region text not null,
  latency_buckets smallint[] not null,
  latency_counts integer[] not null,
  constraint service_hour_pkey primary key (service_id, region, hour),
  check (degraded <= up and up + down + inconclusive <= expected),
  check (latency_count <= up and cardinality(latency_buckets) = cardinality(latency_counts))
);

-- For retention. Equal keys share one entry, so it is small.
create index service_hour_by_hour on uptuple.service_hour (hour);

comment on table uptuple.service_hour is
  'Totals of one service and region over the windows that started in one hour (UTC). Written by roll_up and rebuild_roll_ups only; can be '
  'computed anew from result and job as long as those are kept.';
comment on column uptuple.service_hour.latency_sum_us is 'Of the windows that were up, in microseconds: whole numbers add up to the same in any order.';
comment on column uptuple.service_hour.expected is 'Windows of the grid that started while the service was active. What is neither up, down nor a named gap is absent.';
comment on column uptuple.service_hour.up is 'UP and DEGRADED.';
comment on column uptuple.service_hour.degraded is 'Those of up that were DEGRADED.';
comment on column uptuple.service_hour.latency_count is 'Windows that were up and have a latency.';
comment on column uptuple.service_hour.latency_buckets is
  'Which buckets of latency_bucket() hold any latency, and in latency_counts how many each. Histograms are merged by adding counts.';

create table uptuple.service_day (
  service_id bigint not null references uptuple.service,
  latency_sum_us bigint not null,
  day date not null,
  expected integer not null,
  up integer not null,
  degraded integer not null,
  down integer not null,
  inconclusive integer not null,
  missed integer not null,
  failed integer not null,
  canceled integer not null,
  latency_count integer not null,
  region text not null,
  latency_buckets smallint[] not null,
  latency_counts integer[] not null,
  constraint service_day_pkey primary key (service_id, region, day)
);

comment on table uptuple.service_day is 'The hours of one day (UTC) of one service and region, added up. Columns as in service_hour.';

create table uptuple.roll_up_mark (
  only_row boolean primary key default true check (only_row),
  rolled_from bigint not null check (mod(rolled_from, 86400) = 0),
  rolled_until bigint not null check (mod(rolled_until, 3600) = 0),
  done_to_service bigint,
  check (rolled_from <= rolled_until)
);

-- From the oldest results there are, or, in a new database, from today.
insert into uptuple.roll_up_mark (rolled_from, rolled_until)
select first.day_start, first.day_start
from (
  select extract(epoch from coalesce(
    (
      select min(to_date(right(child.relname, 8), 'YYYYMMDD'))
      from pg_catalog.pg_inherits
      join pg_catalog.pg_class child on child.oid = pg_inherits.inhrelid
      where pg_inherits.inhparent = 'uptuple.result'::regclass
    ),
    (clock_timestamp() at time zone 'UTC')::date
  ))::bigint as day_start
) first;

comment on table uptuple.roll_up_mark is 'One row: how far roll_up has come. Whoever holds its lock rolls up, everyone else skips.';
comment on column uptuple.roll_up_mark.rolled_from is 'Epoch second: reports take windows before it from results.';
comment on column uptuple.roll_up_mark.rolled_until is 'Epoch second: every hour from rolled_from up to it is in service_hour, every whole day in service_day.';
comment on column uptuple.roll_up_mark.done_to_service is 'Of the next hour the services up to this id are done; null at its beginning.';

create table uptuple.unfinished_hour (
  service_id bigint not null,
  region text not null,
  hour timestamptz not null,
  noted_at timestamptz not null default clock_timestamp(),
  constraint unfinished_hour_pkey primary key (service_id, region, hour)
);

comment on table uptuple.unfinished_hour is
  'Hours that had a job which was not finished when they were rolled up. Reports take them from results until roll_up has computed them anew.';
comment on column uptuple.unfinished_hour.noted_at is 'So that one noted again meanwhile is not taken for done.';

create table uptuple.retention (
  kind text constraint retention_pkey primary key check (kind in ('jobs', 'results', 'hours', 'days', 'notices')),
  keep interval,
  gone_before timestamptz
);

insert into uptuple.retention (kind, keep)
values ('jobs', '2 days'), ('results', '30 days'), ('hours', '400 days'), ('days', null), ('notices', '400 days');

comment on table uptuple.retention is 'How long what is kept. Change it with set_retention; the view kept shows it.';
comment on column uptuple.retention.keep is 'Null: for ever.';
comment on column uptuple.retention.gone_before is 'What is older has been dropped: jobs and results. Null: nothing was yet.';
