-- The configuration of an HTTP check, validated and completed with its defaults.
--
-- Each error names the argument, quotes the value and says what is allowed, so that nothing can be stored that a runtime
-- could not send. The body is read, and headers are reported, only where an assertion looks at them. Assertions that say which statuses are
-- right take the place of expected_statuses where that was left at its default. Reads and writes nothing; called by check_config, and
-- for the headers of channels.
create or replace function uptuple.http_config(
  method text,
  headers jsonb,
  body text,
  expected_statuses text,
  follow_redirects integer,
  insecure boolean,
  assertions jsonb default '[]',
  options jsonb default '{}'
)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  known_methods constant text[] := array['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
  header record;
begin
  method := upper(method);
  if (method = any (known_methods)) is not true then
    raise exception 'method % is not one that can be sent', coalesce(quote_literal(method), 'null')
      using errcode = 'invalid_parameter_value', hint = 'Use one of ' || array_to_string(known_methods, ', ') || '.';
  end if;
  if (jsonb_typeof(headers) = 'object') is not true then
    raise exception 'headers must be a JSON object of names and values'
      using errcode = 'invalid_parameter_value', hint = 'For example headers => ''{"Accept": "application/json"}''.';
  end if;
  for header in select entry.key, entry.value, jsonb_typeof(entry.value) as type from jsonb_each(headers) entry loop
    if header.key !~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]+$' then
      raise exception 'headers has the name %, which is not a header name', quote_literal(header.key)
        using errcode = 'invalid_parameter_value', hint = 'Header names are letters, digits and hyphens.';
    end if;
    if header.type <> 'string' or (header.value #>> '{}') ~ '[^\t -~\u0080-\u00ff]' then
      raise exception 'headers has a value for % that cannot be sent', quote_literal(header.key)
        using errcode = 'invalid_parameter_value', hint = 'Header values are strings of Latin-1 characters, without line breaks or control characters.';
    end if;
    if lower(header.key) in ('content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer', 'keep-alive') then
      raise exception 'headers must not set %', quote_literal(header.key)
        using errcode = 'invalid_parameter_value', hint = 'The probe frames its own messages; leave this header out.';
    end if;
  end loop;
  if (select count(distinct lower(key)) <> count(*) from jsonb_object_keys(headers) key) then
    raise exception 'headers has a name more than once, in different case'
      using errcode = 'invalid_parameter_value', hint = 'Case does not matter in the name of a header; leave one of them out.';
  end if;
  if body is not null and method in ('HEAD', 'OPTIONS') then
    raise exception 'body cannot be sent with the method %', method
      using errcode = 'invalid_parameter_value', hint = 'Leave body out, or use GET, POST, PUT, PATCH or DELETE.';
  end if;
  if octet_length(body) > 65536 then
    raise exception 'body has % bytes', octet_length(body)
      using errcode = 'invalid_parameter_value', hint = 'A body may have up to 65536 bytes.';
  end if;
  if (follow_redirects between 0 and 5) is not true then
    raise exception 'follow_redirects is %, and must be between 0 and 5', coalesce(follow_redirects::text, 'null')
      using errcode = 'invalid_parameter_value', hint = '0 means that a redirect is the answer.';
  end if;

  if method = 'HEAD' and uptuple.reads_body(assertions) then
    raise exception 'assertions look at the body, and an answer to HEAD has none'
      using errcode = 'invalid_parameter_value', hint = 'Use GET.';
  end if;
  if options ? 'ip_family' and (options -> 'ip_family' in ('4', '6')) is not true then
    raise exception 'options has the ip_family %, and it must be 4 or 6', left((options -> 'ip_family')::text, 100)
      using errcode = 'invalid_parameter_value', hint = 'Leave it out for whichever of the two answers.';
  end if;

  return uptuple.with_assertions(jsonb_strip_nulls(jsonb_build_object(
    'method', method,
    'headers', headers,
    'body', body,
    'expected_statuses', uptuple.status_ranges(expected_statuses)::text,
    'follow_redirects', follow_redirects,
    'insecure', nullif(coalesce(insecure, false), false),
    'tls', uptuple.tls_config(options),
    'ip_family', options -> 'ip_family'
  )), assertions);
end
$function$;

comment on function uptuple.http_config(text, jsonb, text, text, integer, boolean, jsonb, jsonb) is
  'The configuration of an HTTP check as service_revision stores it, or an error that names the argument and the cure.';

revoke execute on function uptuple.http_config(text, jsonb, text, text, integer, boolean, jsonb, jsonb) from public;
