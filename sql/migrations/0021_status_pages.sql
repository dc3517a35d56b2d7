-- What the public may see: pages with chosen services, and what people write about incidents.

create table uptuple.status_page (
  id bigint generated always as identity primary key,
  slug text not null constraint status_page_slug_key unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 60),
  title text not null check (title <> '' and length(title) <= 200),
  description text check (length(description) between 1 and 5000),
  logo bytea check (octet_length(logo) between 1 and 262144),
  logo_type text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((logo is null) = (logo_type is null))
);

comment on table uptuple.status_page is
  'A page for the public: /status for the one called default, /status/<slug> for the others. Change it through add_status_page and its siblings.';
comment on column uptuple.status_page.logo_type is 'image/png, image/jpeg, image/gif or image/webp, as the bytes themselves say.';

create table uptuple.status_page_entry (
  id bigint generated always as identity primary key,
  page_id bigint not null references uptuple.status_page on delete cascade,
  service_id bigint references uptuple.service,
  group_name text check (group_name <> ''),
  shown_name text check (length(shown_name) between 1 and 200),
  position integer not null default 0,
  check (num_nonnulls(service_id, group_name) = 1)
);

create unique index status_page_entry_service_key on uptuple.status_page_entry (page_id, service_id) where service_id is not null;
create unique index status_page_entry_group_key on uptuple.status_page_entry (page_id, group_name) where group_name is not null;

comment on table uptuple.status_page_entry is 'What a status page shows: a service, or a group with all the services that are in it at the time.';
comment on column uptuple.status_page_entry.shown_name is 'What the public reads instead of the name of the service or group; null: the name itself.';

create table uptuple.incident_update (
  id bigint generated always as identity primary key,
  incident_id bigint not null references uptuple.incident,
  status text not null check (status in ('investigating', 'identified', 'monitoring', 'resolved', 'postmortem')),
  body text not null check (body <> '' and length(body) <= 20000),
  public boolean not null default true,
  posted_at timestamptz not null default clock_timestamp(),
  posted_by text not null default session_user,
  changed_at timestamptz
);

create index incident_update_by_incident on uptuple.incident_update (incident_id, posted_at);
create index incident_by_end on uptuple.incident (closed_at);

comment on table uptuple.incident_update is 'What people write about an incident, in the words of status pages. Each is an entry of the feeds.';
comment on column uptuple.incident_update.public is 'False: for those who may see the dashboard only.';
comment on column uptuple.incident_update.posted_by is 'Shown on the dashboard, never to the public.';
