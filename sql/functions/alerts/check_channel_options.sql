-- Refuses options with which a channel of this kind could not be sent to. Each error names the option and the cure.
--
-- Tokens and keys must be ${UPTUPLE_SECRET_NAME}: what is stored here is read by many. A kind of one's own takes any options. Reads nothing.
-- Called by check_channel.
create or replace function uptuple.check_channel_options(kind text, options jsonb)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  secret constant text := '^\$\{UPTUPLE_SECRET_[A-Z0-9_]+\}$';
  secret_or constant text := '^(\$\{UPTUPLE_SECRET_[A-Z0-9_]+\}|%s)$';
  line constant text := '^[^[:cntrl:]]{1,200}$';
  address constant text := '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$';
  known record;
  given jsonb;
  unknown text;
  names text[] := '{}';
begin
  if (jsonb_typeof(options) = 'object') is not true then
    raise exception 'options must be a JSON object'
      using errcode = 'invalid_parameter_value', hint = 'For example options => ''{"chat_id": "-1001234"}''; leave it out for kinds that need none.';
  end if;

  for known in
    select *
    from (values
      ('slack', 'mention', false, 'string', '^<[!@][^<>[:cntrl:]]{1,100}>$', '<!channel>'),
      ('discord', 'mention', false, 'string', '^(@everyone|@here|<@&?[0-9]{1,25}>)$', '@here'),
      ('mattermost', 'mention', false, 'string', '^@[A-Za-z0-9._-]{1,64}$', '@channel'),
      ('mattermost', 'channel', false, 'string', line, 'ops'),
      ('mattermost', 'username', false, 'string', line, 'uptuple'),
      ('telegram', 'token', true, 'string', secret, '${UPTUPLE_SECRET_TELEGRAM}'),
      ('telegram', 'chat_id', true, 'string', format(secret_or, '-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64}'), '-1001234567890'),
      ('telegram', 'message_thread_id', false, 'number', '^[0-9]{1,15}$', '7'),
      ('telegram', 'silent', false, 'boolean', null, 'true'),
      ('ntfy', 'topic', true, 'string', format(secret_or, '[A-Za-z0-9_-]{1,64}'), 'our-alerts'),
      ('ntfy', 'token', false, 'string', secret, '${UPTUPLE_SECRET_NTFY}'),
      ('gotify', 'token', true, 'string', secret, '${UPTUPLE_SECRET_GOTIFY}'),
      ('pushover', 'token', true, 'string', secret, '${UPTUPLE_SECRET_PUSHOVER_TOKEN}'),
      ('pushover', 'user', true, 'string', secret, '${UPTUPLE_SECRET_PUSHOVER_USER}'),
      ('pushover', 'device', false, 'string', '^[A-Za-z0-9_,-]{1,200}$', 'phone'),
      ('pushover', 'sound', false, 'string', '^[A-Za-z0-9_-]{1,100}$', 'siren'),
      ('pagerduty', 'routing_key', true, 'string', secret, '${UPTUPLE_SECRET_PAGERDUTY}'),
      ('opsgenie', 'api_key', true, 'string', secret, '${UPTUPLE_SECRET_OPSGENIE}'),
      ('alertmanager', 'receiver', false, 'string', line, 'uptuple'),
      ('email', 'from', true, 'string', address, 'uptuple@example.com'),
      ('email', 'to', true, 'string or array', address, 'ops@example.com'),
      ('email', 'user', false, 'string', line, 'uptuple@example.com'),
      ('email', 'password', false, 'string', secret, '${UPTUPLE_SECRET_MAIL}'),
      ('email', 'starttls', false, 'string', '^(required|offered|never)$', 'required'),
      ('email', 'ca', false, 'string', secret, '${UPTUPLE_SECRET_MAIL_CA}')
    ) as each (kind, option, required, type, form, example)
    where each.kind = kind
  loop
    names := names || known.option;
    given := options -> known.option;
    if given is null and not known.required then
      continue;
    end if;
    if given is null then
      raise exception 'options lacks %, which the kind % needs', quote_literal(known.option), kind
        using errcode = 'invalid_parameter_value',
          hint = format('For example options => ''{"%s": "%s"}''.', known.option, known.example);
    end if;
    if (
      position(jsonb_typeof(given) in known.type) > 0
      and case jsonb_typeof(given)
        when 'array' then jsonb_array_length(given) between 1 and 50 and not exists (
          select from jsonb_array_elements(given) entry
          where (jsonb_typeof(entry) = 'string' and entry #>> '{}' ~ known.form) is not true
        )
        else known.form is null or given #>> '{}' ~ known.form
      end
    ) is not true then
      raise exception 'options has a value for % that the kind % cannot use', quote_literal(known.option), kind
        using errcode = 'invalid_parameter_value',
          hint = format('For example options => ''{"%s": %s}''%s.', known.option,
            case when known.type in ('number', 'boolean') then known.example else to_json(known.example)::text end,
            case when known.form = secret then ': it names a variable of the runtime''s environment, in which the value is' else '' end);
    end if;
  end loop;

  if options ? 'user' <> options ? 'password' and kind = 'email' then
    raise exception 'options has only one of ''user'' and ''password'''
      using errcode = 'invalid_parameter_value', hint = 'Give both to log in, or none to send without a login.';
  end if;
  if names <> '{}' or kind in ('webhook', 'teams') then
    select key into unknown from jsonb_object_keys(options) key where key <> all (names) limit 1;
    if found then
      raise exception 'options has %, which the kind % does not know', quote_literal(unknown), kind
        using errcode = 'invalid_parameter_value',
          hint = coalesce('It knows ' || nullif(array_to_string(names, ', '), '') || '.', 'It knows none.');
    end if;
  end if;
end
$function$;

comment on function uptuple.check_channel_options(text, jsonb) is
  'Refuses options with which a channel of this kind could not be sent to, with an error that names the option and the cure.';

revoke execute on function uptuple.check_channel_options(text, jsonb) from public;
