-- The canonical form of postgresql://user:password@host:port/database, or of postgresql:${UPTUPLE_SECRET_NAME} for one that is a secret as
-- a whole. Reads nothing; called by service_target.
create or replace function uptuple.postgresql_target(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  secret constant text := substring(url from '^[A-Za-z]+:(?://)?(\$\{UPTUPLE_SECRET_[A-Za-z0-9_]+\})$');
  parts constant text[] := regexp_match(url, '^[A-Za-z]+://(?:([^/?#]*)@)?(\[[^]/?#@]*\]|[^:/?#@\[\]]*)(?::([^/?#]*))?([/?].*)?$');
begin
  if secret is not null then
    return 'postgresql:' || secret;
  end if;
  if parts is null or position('#' in url) > 0 then
    raise exception 'url % is no URL of a PostgreSQL database', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value',
            hint = 'Write it as postgresql://user:${UPTUPLE_SECRET_PASSWORD}@host:5432/database, or as postgresql:${UPTUPLE_SECRET_DSN}.';
  end if;
  if parts[3] <> '' and (parts[3] !~ '^[0-9]{1,5}$' or parts[3]::integer not between 1 and 65535) then
    raise exception 'url % has the port %, which does not exist', quote_literal(uptuple.shown_url(url)), parts[3]
      using errcode = 'invalid_parameter_value', hint = 'Ports are 1 to 65535.';
  end if;
  return 'postgresql://' || coalesce(parts[1] || '@', '') || uptuple.canonical_host(parts[2], url)
    || coalesce(':' || nullif(parts[3], '')::integer, '') || coalesce(parts[4], '');
end
$function$;

comment on function uptuple.postgresql_target(text) is 'The canonical form of the URL of a PostgreSQL database, or an error that names the cure.';

revoke execute on function uptuple.postgresql_target(text) from public;
