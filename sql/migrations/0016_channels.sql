-- Channels of many kinds, each with options of its own, and what links and keys in notices are made from.

alter table uptuple.channel
  drop constraint channel_kind_check,
  add constraint channel_kind_check check (kind ~ '^[a-z][a-z0-9_]{0,40}$'),
  add column options jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
  add column dead_told_at timestamptz;

comment on column uptuple.channel.kind is
  'webhook, slack, discord, ...: uptuple.render_<kind>(event, channel) makes the request. A function of your own by that name is a kind too.';
comment on column uptuple.channel.options is
  'What this kind needs beside the URL, such as {"chat_id": "-1001"}. Tokens and keys stand here as ${UPTUPLE_SECRET_NAME}, never themselves.';
comment on column uptuple.channel.dead_told_at is 'When another channel was told last that notices to this one are dead.';

alter table uptuple.delivery add column last_cause text;

comment on column uptuple.delivery.last_cause is
  'What the last failure was, in a form that can be counted: HTTP 422, SMTP 550, connect.refused, lease ended.';

create table uptuple.setting (
  one boolean primary key default true check (one),
  installation_id uuid not null default gen_random_uuid(),
  public_url text
);

insert into uptuple.setting default values;

comment on table uptuple.setting is 'What holds for the whole installation. One row.';
comment on column uptuple.setting.installation_id is
  'Keeps the keys that incidents have at receivers apart from those of another installation that uses the same receiver.';
comment on column uptuple.setting.public_url is
  'Where people reach the pages, ending in a slash; links in notices begin with it. Null: notices have no links. See set_public_url.';
