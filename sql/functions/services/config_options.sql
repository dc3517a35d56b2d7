-- The options that a stored configuration was made of: what update_service keeps when none are given. Reads nothing.
create or replace function uptuple.config_options(config jsonb)
returns jsonb
language sql
immutable
set search_path = pg_catalog, pg_temp
return (
  select coalesce(jsonb_object_agg(name, value), '{}')
  from (
    values
      ('tls_server_name', config #> '{tls,server_name}'),
      ('ca', config #> '{tls,ca}'),
      ('client_certificate', config #> '{tls,client_certificate}'),
      ('client_key', config #> '{tls,client_key}'),
      ('ip_family', config -> 'ip_family'),
      ('send', config -> 'send'),
      ('expect', case when config @> '{"expect": true}' and not uptuple.reads_body(coalesce(config -> 'assertions', '[]')) then config -> 'expect' end),
      ('record_type', config -> 'record_type'),
      ('resolver', config -> 'resolver'),
      ('answers', config -> 'answers'),
      ('days', config -> 'days'),
      ('grace', case when config ? 'grace_seconds' then to_jsonb((config ->> 'grace_seconds') || ' seconds') end),
      ('cron', config -> 'cron'),
      ('zone', config -> 'zone')
  ) option (name, value)
  where value is not null and jsonb_typeof(value) <> 'null'
);

comment on function uptuple.config_options(jsonb) is 'The options that a stored configuration was made of.';

revoke execute on function uptuple.config_options(jsonb) from public;
