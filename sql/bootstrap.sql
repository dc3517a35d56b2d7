-- What has to be there before the first migration: the roles, the schema, and the migrator's own tables.
--
-- Idempotent; the migrator runs it first, as whoever connects, in one transaction under its lock (by hand: psql -1 -f). Roles
-- belong to the whole cluster, so a sibling database may create the same ones at the same moment: whoever comes second goes
-- on. Without CREATEROLE the schema belongs to the connecting role, and the migrator grants to that role what it would have
-- granted to a role that is missing.
do $roles$
declare
  role_name text;
begin
  foreach role_name in array array['uptuple_owner', 'uptuple_worker', 'uptuple_operator', 'uptuple_viewer', 'uptuple_task'] loop
    continue when exists (select from pg_catalog.pg_roles where rolname = role_name);
    begin
      execute pg_catalog.format('create role %I nologin', role_name);
    exception
      when duplicate_object or unique_violation then
        null;
      when insufficient_privilege then
        raise notice 'role % is missing, and % may not create roles', role_name, current_user;
    end;
  end loop;
end
$roles$;

-- The schema belongs to uptuple_owner where the connecting role can act as that role, and to the connecting role where not.
do $schema$
declare
  owner_name text := current_user;
begin
  if exists (select from pg_catalog.pg_namespace where nspname = 'uptuple') then
    return;
  end if;

  if exists (select from pg_catalog.pg_roles where rolname = 'uptuple_owner') then
    begin
      set local role uptuple_owner;
      reset role;
      owner_name := 'uptuple_owner';
    exception
      when insufficient_privilege then
        begin
          execute pg_catalog.format('grant uptuple_owner to %I', current_user);
          set local role uptuple_owner;
          reset role;
          owner_name := 'uptuple_owner';
        exception
          when insufficient_privilege then
            raise notice '% cannot act as uptuple_owner, and owns the schema uptuple itself', current_user;
        end;
    end;
  end if;

  execute pg_catalog.format('create schema uptuple authorization %I', owner_name);
end
$schema$;

do $act_as_owner$
declare
  owner_name text := (select nspowner::pg_catalog.regrole::text from pg_catalog.pg_namespace where nspname = 'uptuple');
begin
  execute 'set local role ' || owner_name;
end
$act_as_owner$;

comment on schema uptuple is 'Uptuple, an uptime monitor. Its functions are its interface: \df+ uptuple.*';

create table if not exists uptuple.migration (
  file text constraint migration_pkey primary key,
  sha256 text not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp(),
  applied_by text not null default session_user
);

comment on table uptuple.migration is 'The files of sql/migrations that were applied. Immutable: the migrator refuses a file whose checksum changed.';

create table if not exists uptuple.definition (
  path text constraint definition_pkey primary key,
  sha256 text not null,
  shape text not null,
  identities text[] not null
);

comment on table uptuple.definition is 'The files of sql/functions and sql/views as they were last applied.';
comment on column uptuple.definition.shape is 'Checksum of the file without bodies, strings and comments: while it stays, functions are replaced in place.';
comment on column uptuple.definition.identities is 'What the file defined, as DROP takes it: it is dropped when the file''s shape changes or the file vanishes.';

create table if not exists uptuple.installation (
  one boolean default true constraint installation_pkey primary key constraint installation_one_row check (one),
  release integer not null,
  oldest_program integer not null,
  sql_digest text not null,
  generation bigint not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp()
);

comment on table uptuple.installation is 'Which release of the program made this schema. One row.';
comment on column uptuple.installation.release is 'The newest program that applied its functions; older ones leave them alone.';
comment on column uptuple.installation.oldest_program is 'The oldest program that may run on this schema.';
comment on column uptuple.installation.sql_digest is 'Of all SQL files; equal to a program''s own when that program has nothing to do. Empty while something is half done.';
comment on column uptuple.installation.generation is 'Grows with each change that a migrator makes; one that finds another number than it planned with plans again.';

insert into uptuple.installation (release, oldest_program, sql_digest, generation)
values (0, 0, '', 0)
on conflict on constraint installation_pkey do nothing;

create or replace view uptuple.installed as
select release, oldest_program, applied_at from uptuple.installation;

comment on view uptuple.installed is 'Which release of the program made this schema, and the oldest program that may run on it.';

do $grants$
declare
  role_name text;
begin
  for role_name in select rolname from pg_catalog.pg_roles
    where rolname in ('uptuple_worker', 'uptuple_operator', 'uptuple_viewer', 'uptuple_task')
  loop
    execute pg_catalog.format('grant usage on schema uptuple to %I', role_name);
    execute pg_catalog.format('grant select on uptuple.installed to %I', role_name);
  end loop;
end
$grants$;

reset role;
