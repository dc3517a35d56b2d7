-- Refuses a channel that could not be sent to. Each error names the argument and the cure. Called by add_channel and update_channel.
create or replace function uptuple.check_channel(
  kind text,
  url text,
  options jsonb,
  headers jsonb,
  signing_secrets text[],
  ordering text,
  max_attempts integer,
  timeout interval
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  secret text;
  header text;
begin
  perform uptuple.check_channel_kind(kind);
  perform uptuple.channel_url(kind, url);
  perform uptuple.check_channel_options(kind, options);
  if kind = 'email' and (headers <> '{}' or signing_secrets <> '{}') then
    raise exception 'a channel of the kind email has no headers and no signing_secrets'
      using errcode = 'invalid_parameter_value', hint = 'Leave both out.';
  end if;
  perform uptuple.http_config('POST', headers, null, '200-299', 0, false);
  for header in select key from jsonb_object_keys(headers) key loop
    if lower(header) in ('idempotency-key', 'webhook-id', 'webhook-timestamp', 'webhook-signature') then
      raise exception 'headers must not set %', quote_literal(header)
        using errcode = 'invalid_parameter_value', hint = 'Every notice brings its own; leave this header out.';
    end if;
  end loop;
  if signing_secrets is null then
    raise exception 'signing_secrets is null'
      using errcode = 'invalid_parameter_value', hint = 'Leave it out, or give ''{}'', to send notices without a signature.';
  end if;
  foreach secret in array signing_secrets loop
    if (secret ~ '^\$\{UPTUPLE_SECRET_[A-Z0-9_]+\}$') is not true then
      raise exception 'signing_secrets must name secrets of the environment, not hold them'
        using errcode = 'invalid_parameter_value', hint = 'For example signing_secrets => ''{"${UPTUPLE_SECRET_OPS_SIGNING}"}''.';
    end if;
  end loop;
  if cardinality(signing_secrets) > 2 then
    raise exception 'signing_secrets has % keys', cardinality(signing_secrets)
      using errcode = 'invalid_parameter_value', hint = 'One, or two while one of them is rotated.';
  end if;
  if (ordering in ('incident', 'strict')) is not true then
    raise exception 'ordering is %, and must be incident or strict', coalesce(quote_literal(ordering), 'null')
      using errcode = 'invalid_parameter_value', hint = 'strict lets a dead notice hold back everything later of its service.';
  end if;
  if (max_attempts between 1 and 20) is not true then
    raise exception 'max_attempts is %, and must be between 1 and 20', coalesce(max_attempts::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'The default is 5.';
  end if;
  if (timeout between interval '100 ms' and interval '20 s') is not true then
    raise exception 'timeout is %, and must be between 100 ms and 20 seconds', coalesce(timeout::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'The default is 10 seconds.';
  end if;
end
$function$;

comment on function uptuple.check_channel(text, text, jsonb, jsonb, text[], text, integer, interval) is
  'Refuses a channel that could not be sent to, with an error that names the argument and the cure.';

revoke execute on function uptuple.check_channel(text, text, jsonb, jsonb, text[], text, integer, interval) from public;
