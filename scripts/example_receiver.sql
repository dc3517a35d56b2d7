-- What the example receiver keeps: each notice once. It runs this file whenever it starts; psql -f does the same.
--
-- The unique event_id is what makes a receiver exact: Uptuple sends a notice until it hears 2xx, so it may come more than once, and two
-- copies of it may even come at the same moment.
select pg_advisory_xact_lock(hashtext('example_receiver'));

create schema if not exists example_receiver;

create table if not exists example_receiver.notice (
  arrival bigint generated always as identity primary key,
  event_id text not null unique,
  body text not null,
  received_at timestamptz not null default clock_timestamp(),
  posts integer not null default 1
);

comment on table example_receiver.notice is 'Notices that came from Uptuple, each once.';
comment on column example_receiver.notice.arrival is 'The order in which they came.';
comment on column example_receiver.notice.event_id is 'The headers webhook-id and Idempotency-Key, the same in every attempt.';
comment on column example_receiver.notice.body is 'As it was received.';
comment on column example_receiver.notice.posts is 'How often it was sent to us, other bodies under the same id included.';
