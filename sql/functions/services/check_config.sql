-- The configuration of a check of any kind as service_revision stores it: validated, and completed with its defaults.
--
-- The one place that knows which function validates which kind. Arguments that a kind does not use are refused if they are given; null
-- is not given. Reads nothing but, for a heartbeat with a zone, the server's time zones. Called by add_service, update_service and
-- test_assertions.
create or replace function uptuple.check_config(
  kind text,
  target text,
  every interval,
  method text,
  headers jsonb,
  body text,
  expected_statuses text,
  follow_redirects integer,
  insecure boolean,
  assertions jsonb,
  options jsonb
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
begin
  perform uptuple.check_options(kind, target, options);
  if kind <> 'http' then
    perform uptuple.check_unused(kind, target, method, headers, body, expected_statuses, follow_redirects, insecure);
  end if;
  assertions := uptuple.check_assertions(assertions, kind, target);

  return case kind
    when 'http' then uptuple.http_config(method, headers, body, expected_statuses, follow_redirects, insecure, assertions, options)
    when 'tcp' then uptuple.tcp_config(target, insecure, assertions, options)
    when 'dns' then uptuple.dns_config(options)
    when 'certificate' then uptuple.certificate_config(insecure, options)
    when 'postgresql' then uptuple.postgresql_config(insecure, options)
    when 'heartbeat' then uptuple.heartbeat_config(every, options)
  end || case when assertions = '[]' then '{}' else jsonb_build_object('assertions', assertions) end;
end
$function$;

comment on function uptuple.check_config(text, text, interval, text, jsonb, text, text, integer, boolean, jsonb, jsonb) is
  'The configuration of a check of any kind as service_revision stores it, or an error that names the argument and the cure.';

revoke execute on function uptuple.check_config(text, text, interval, text, jsonb, text, text, integer, boolean, jsonb, jsonb) from public;
