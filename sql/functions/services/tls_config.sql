-- How a connection is secured, of the options tls_server_name, ca, client_certificate and client_key; null if none of them is given.
--
-- A key is never stored: it is named as ${UPTUPLE_SECRET_NAME}, and the runtime reads it. Reads nothing; called for each kind that has TLS.
create or replace function uptuple.tls_config(options jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  secret constant text := '^\$\{UPTUPLE_SECRET_[A-Za-z0-9_]+\}$';
  certificate constant text := '^\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$';
  name constant text := options ->> 'tls_server_name';
  option text;
begin
  foreach option in array '{tls_server_name,ca,client_certificate,client_key}'::text[] loop
    if options ? option and jsonb_typeof(options -> option) <> 'string' then
      raise exception 'options has a value for % that is no text', quote_literal(option)
        using errcode = 'invalid_parameter_value', hint = format('For example ''{"%s": "${UPTUPLE_SECRET_NAME}"}''.', option);
    end if;
  end loop;
  if name is not null and (name !~ '^[A-Za-z0-9_.-]{1,253}$' or name ~ '^[0-9.]+$' or name ~ '\.\.|^[.-]') then
    raise exception 'options has the tls_server_name %, which is no host name', quote_literal(left(name, 300))
      using errcode = 'invalid_parameter_value', hint = 'It is the name that the certificate is for, such as "example.com"; an address cannot be sent as one.';
  end if;
  foreach option in array '{ca,client_certificate}'::text[] loop
    if length(options ->> option) > 65536 or options ->> option !~ secret and options ->> option !~ certificate then
      raise exception 'options has a value for % that is neither a secret nor a certificate', quote_literal(option)
        using errcode = 'invalid_parameter_value', hint = 'Give ${UPTUPLE_SECRET_NAME}, or the text of PEM certificates.';
    end if;
  end loop;
  if options ->> 'client_key' !~ secret then
    raise exception 'options has a client_key that is not a secret of the environment'
      using errcode = 'invalid_parameter_value', hint = 'A key is not stored here: give "${UPTUPLE_SECRET_NAME}".';
  end if;
  if (options ? 'client_key') <> (options ? 'client_certificate') then
    raise exception 'options has one of client_certificate and client_key, and needs both or neither'
      using errcode = 'invalid_parameter_value', hint = 'For example ''{"client_certificate": "${UPTUPLE_SECRET_CRT}", "client_key": "${UPTUPLE_SECRET_KEY}"}''.';
  end if;

  return nullif(jsonb_strip_nulls(jsonb_build_object(
    'server_name', options -> 'tls_server_name',
    'ca', options -> 'ca',
    'client_certificate', options -> 'client_certificate',
    'client_key', options -> 'client_key'
  )), '{}');
end
$function$;

comment on function uptuple.tls_config(jsonb) is 'How a connection is secured: server_name, ca, client_certificate, client_key; null if nothing is said of it.';

revoke execute on function uptuple.tls_config(jsonb) from public;
