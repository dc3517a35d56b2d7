-- Refuses a kind for which there is no function uptuple.render_<kind>(event, channel), or one that others than the schema's owner wrote.
--
-- That function will run as uptuple_owner, so it must be the owner's or a superuser's; operators choose among such functions and cannot bring
-- their own. Reads pg_proc. Called by check_channel.
create or replace function uptuple.check_channel_kind(kind text)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  kinds text;
begin
  if exists (
    select
    from pg_catalog.pg_proc
    join pg_catalog.pg_namespace on pg_namespace.oid = pg_proc.pronamespace
    join pg_catalog.pg_roles on pg_roles.oid = pg_proc.proowner
    where pg_namespace.nspname = 'uptuple'
      and pg_proc.proname = 'render_' || kind
      and pg_proc.pronargs = 2
      and pg_proc.proargtypes[0] = 'uptuple.event'::regtype
      and pg_proc.proargtypes[1] = 'uptuple.channel'::regtype
      and pg_proc.prorettype = 'jsonb'::regtype
      and not pg_proc.proretset
      and (pg_proc.proowner = pg_namespace.nspowner or pg_roles.rolsuper)
      and kind ~ '^[a-z][a-z0-9_]{0,40}$'
  ) then
    return;
  end if;

  select string_agg(substr(pg_proc.proname::text, 8), ', ' order by pg_proc.proname) into kinds
  from pg_catalog.pg_proc
  where pg_proc.pronamespace = 'uptuple'::regnamespace
    and pg_proc.proname::text ^@ 'render_'
    and pg_proc.pronargs = 2
    and pg_proc.proargtypes[0] = 'uptuple.event'::regtype
    and pg_proc.proargtypes[1] = 'uptuple.channel'::regtype;
  raise exception 'kind % is not known', coalesce(quote_literal(kind), 'null')
    using errcode = 'invalid_parameter_value',
      hint = 'The kinds are ' || kinds || '; uptuple_owner can add one as uptuple.render_<kind>(event uptuple.event, channel uptuple.channel) returns jsonb.';
end
$function$;

comment on function uptuple.check_channel_kind(text) is
  'Refuses a kind of channel for which the schema''s owner has no function uptuple.render_<kind>(event, channel).';

revoke execute on function uptuple.check_channel_kind(text) from public;
