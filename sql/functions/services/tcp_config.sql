-- The configuration of a check over a plain or a TLS connection: what to send, and whether to read an answer.
--
-- An answer is read if an assertion looks at it, or if the option "expect" asks for it: then silence is a failure. Reads nothing; called
-- by check_config.
create or replace function uptuple.tcp_config(target text, insecure boolean, assertions jsonb, options jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if options ? 'send' and (jsonb_typeof(options -> 'send') <> 'string' or octet_length(options ->> 'send') > 4096) then
    raise exception 'options has a value for ''send'' that is no text of up to 4096 bytes'
      using errcode = 'invalid_parameter_value', hint = 'For example ''{"send": "PING\r\n"}''.';
  end if;
  if options ? 'expect' and jsonb_typeof(options -> 'expect') <> 'boolean' then
    raise exception 'options has a value for ''expect'' that is neither true nor false'
      using errcode = 'invalid_parameter_value', hint = 'true reads what the server says; an assertion on the body says what it should be.';
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'send', options -> 'send',
    'expect', coalesce((options ->> 'expect')::boolean, false) or uptuple.reads_body(assertions),
    'tls', case when target ~ '^tls:' then coalesce(uptuple.tls_config(options), 'true') end,
    'insecure', nullif(coalesce(insecure, false), false)
  ));
end
$function$;

comment on function uptuple.tcp_config(text, boolean, jsonb, jsonb) is 'The configuration of a tcp:// or tls:// check as service_revision stores it.';

revoke execute on function uptuple.tcp_config(text, boolean, jsonb, jsonb) from public;
