-- Refuses options that a kind of check does not have. The names of those it has stand in one place, here. Reads nothing; called by
-- check_config, before each kind looks at the values.
create or replace function uptuple.check_options(kind text, target text, options jsonb)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  tls_names constant text[] := '{tls_server_name,ca,client_certificate,client_key}';
  names constant text[] := case
    -- A redirect may lead from http to https, so both have all of them.
    when kind = 'http' then tls_names || 'ip_family'::text
    when kind = 'tcp' and target ~ '^tls:' then '{send,expect}' || tls_names
    when kind = 'tcp' then '{send,expect}'
    when kind = 'dns' then '{record_type,resolver,answers}'
    when kind = 'certificate' then '{days}' || tls_names
    when kind = 'postgresql' then tls_names
    else '{grace,cron,zone}'
  end;
  unknown text;
begin
  if (jsonb_typeof(options) = 'object') is not true then
    raise exception 'options must be a JSON object'
      using errcode = 'invalid_parameter_value', hint = format('Its names for this check are %s.', array_to_string(names, ', '));
  end if;
  select key into unknown from jsonb_object_keys(options) key where key <> all (names) order by key limit 1;
  if unknown is not null then
    raise exception 'options has %, which this check (%) does not have', quote_literal(left(unknown, 100)), split_part(target, ':', 1)
      using errcode = 'invalid_parameter_value',
            hint = format('Its options are %s.', array_to_string(names, ', '))
              || case when kind = 'tcp' and unknown = any (tls_names) then ' For TLS, start the url with tls://.' else '' end;
  end if;
end
$function$;

comment on function uptuple.check_options(text, text, jsonb) is 'Refuses options that a kind of check does not have, with the list of those it has.';

revoke execute on function uptuple.check_options(text, text, jsonb) from public;
