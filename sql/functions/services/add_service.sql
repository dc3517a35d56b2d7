-- Watch a service: its first check is due at once, then one in each window of its interval. A heartbeat has none: it reports by itself.
--
-- The kind of check is the scheme of the url. Everything is validated before anything is written; what a kind does not use is refused. Writes service, service_revision, service_state, service_active and one
-- job, and wakes the runtimes. Race, two callers add the same name: the second waits and gets unique_violation with a hint.
create or replace function uptuple.add_service(
  name text,
  url text,
  every interval default interval '30 seconds',
  timeout interval default null,
  method text default 'GET',
  headers jsonb default '{}',
  body text default null,
  expected_statuses text default '200-299',
  failure_threshold integer default null,
  recovery_threshold integer default 1,
  confirm_every interval default null,
  follow_redirects integer default 0,
  insecure boolean default false,
  group_name text default null,
  tags text[] default '{}',
  regions text[] default '{default}',
  enabled boolean default true,
  assertions jsonb default '[]',
  options jsonb default '{}',
  depends_on text default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  kind constant text := uptuple.service_kind(url);
  target constant text := uptuple.service_target(kind, url);
  -- For another kind than HTTP an argument counts as given if it is not its default.
  config constant jsonb := case kind
    when 'http' then uptuple.check_config(
      kind, target, every, method, headers, body, expected_statuses, follow_redirects, insecure, assertions, options
    )
    else uptuple.check_config(
      kind, target, every, nullif(upper(method), 'GET'), nullif(headers, '{}'), body, nullif(expected_statuses, '200-299'),
      nullif(follow_redirects, 0), insecure, assertions, options
    )
  end;
  time_limit constant interval := coalesce(timeout, least(every, interval '10 seconds'));
  new_id bigint;
begin
  -- What depends_on locks, before anything else is locked.
  if depends_on <> '' then
    lock table uptuple.service in share row exclusive mode;
  end if;
  enabled := coalesce(enabled, true);
  failure_threshold := coalesce(failure_threshold, case kind when 'heartbeat' then 1 else 3 end);
  group_name := nullif(group_name, '');
  perform uptuple.check_name('name', name);
  if group_name is not null then
    perform uptuple.check_name('group_name', group_name);
  end if;
  perform uptuple.check_schedule(every, time_limit, confirm_every, failure_threshold, recovery_threshold, regions, tags, kind <> 'heartbeat');

  insert into uptuple.service (
    name, group_name, tags, regions, enabled, interval_seconds, phase_seconds, phase_ms, first_slot,
    failure_threshold, recovery_threshold, confirm_seconds, probed
  )
  values (
    name, group_name, tags, regions, enabled, extract(epoch from every), 0, 0, 0,
    failure_threshold, recovery_threshold, extract(epoch from confirm_every), kind <> 'heartbeat'
  )
  on conflict do nothing
  returning service.id into new_id;

  if new_id is null then
    raise exception 'there is already a service named %', quote_literal(name)
      using errcode = 'unique_violation', hint = 'Choose another name, or change this one with update_service.';
  end if;

  insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
  values (new_id, 1, kind, target, config, extract(epoch from time_limit) * 1000);
  insert into uptuple.region (name)
  select region from unnest(regions) region
  on conflict do nothing;
  insert into uptuple.service_state (service_id, region)
  select new_id, region from unnest(regions) region;
  perform uptuple.note_rules(new_id);
  perform uptuple.note_membership(new_id);

  if enabled then
    perform uptuple.start_grid(new_id, extract(epoch from every)::integer);
    if kind <> 'heartbeat' then
      perform uptuple.enqueue_request(new_id, 'FIRST');
    end if;
  end if;
  perform uptuple.start_heartbeat(new_id);
  if depends_on <> '' then
    perform uptuple.depends_on(name, depends_on);
  end if;
  return new_id;
end
$function$;

comment on function uptuple.add_service(
  text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], text[], boolean, jsonb, jsonb, text
) is
  E'Watch a service. Returns its id. Probed at once, then in each window of every (1 second to 1 day, default 30 seconds). '
  'timeout: up to the smaller of every and 20 seconds (default 10, or every if that is shorter). '
  'failure_threshold DOWNs in a row (default 3, of a heartbeat 1) open an incident, recovery_threshold UPs (default 1) close it; between the first '
  'DOWN and the threshold the next check comes after confirm_every (default: the smaller of every and 30 seconds). group_name and tags are what '
  'routes, escalations, maintenance and pages choose by. regions names the one region whose runtimes check it. enabled => false adds it PAUSED. '
  'Headers, body, url and options may hold ${UPTUPLE_SECRET_NAME}. A host in its own script is kept in punycode. depends_on names a service: while '
  'that is down, failures of this one are not announced.'
  '\n\nThe url says what is checked, and with which options:'
  '\n  http://host/path, https://   tls_server_name, ca, client_certificate, client_key, ip_family (4 or 6); method, headers, body,'
  '\n                               expected_statuses (''200-299, 401''), follow_redirects (0 to 5), insecure are arguments of their own;'
  '\n                               method is GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS or PROPFIND'
  '\n  tcp://host:port              send (text), expect (true: it must answer)'
  '\n  tls://host:port              those of tcp:// and the first four of https://'
  '\n  dns:name                     record_type (A, AAAA, CNAME, MX, NS, TXT, SOA, SRV, PTR, CAA; default A),'
  '\n                               resolver ("1.1.1.1:53"; default: the system''s),'
  '\n                               answers (["a", "b"]: each must come; {"exactly": [...]}; {"any_of": [...]})'
  '\n  certificate://host[:port]    days (fewer left are DOWN; default 14) and the first four of https://'
  '\n  postgresql://user@host/db    the first four of https://; also postgresql:${UPTUPLE_SECRET_DSN}'
  '\n  heartbeat:                   it reports by itself. grace (1 minute to 30 days; default: every, at most 1 hour), cron, zone (default UTC);'
  '\n                               every may be up to 366 days; heartbeat_url() gives the URL that it calls'
  '\ntls_server_name is told to the server and verified instead of the host. ca (instead of the system''s authorities) and client_certificate are '
  'PEM or a secret, client_key is a secret and goes with client_certificate. insecure => true accepts every certificate.'
  '\n\nassertions is a list; each that does not hold names itself in the reason:'
  '\n  {"status": "200-299, 401"}'
  '\n  {"header": "content-type", "contains": "json"}     exists == != contains not_contains matches not_matches'
  '\n  {"body": {"contains": "all good"}}                 == != contains not_contains matches not_matches'
  '\n  {"json": "$.queue.depth", "<": 3}                  exists == != < <= > >= contains not_contains matches not_matches'
  '\n  {"latency_ms": {"<": 800}}                         == != < <= > >=; DEGRADED unless it says "otherwise": "DOWN"'
  '\n  {"certificate_days": {">=": 14}}                   == != < <= > >='
  '\n  {"any": [...]}, {"all": [...]}                     up to four levels deep, 20 assertions in all'
  '\nBeside any of them: "otherwise": "DOWN" or "DEGRADED", and "name". A JSON path is an SQL/JSON path (lax) and every value that it finds '
  'must hold, types respected: 2.42 < 3, and "10" is a text. A pattern is a POSIX regular expression of up to 500 characters without '
  'back-references and look-around. Only the first 64 KiB of a body are read. Left at its default, expected_statuses yields to an '
  'assertion on the status. tcp:// has body, json and latency_ms, tls:// also certificate_days; dns: and postgresql: have latency_ms, certificate:// '
  'has latency_ms and certificate_days, heartbeat: none. test_assertions(config, observation) tries them.';

revoke execute on function uptuple.add_service(
  text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], text[], boolean, jsonb, jsonb, text
) from public;
grant execute on function uptuple.add_service(
  text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], text[], boolean, jsonb, jsonb, text
) to uptuple_operator;
