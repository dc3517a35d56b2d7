-- Watch a service: its first check is due at once, then one in each window of its interval.
--
-- Everything is validated before anything is written. Writes service, service_revision, service_state, service_active and one
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
  failure_threshold integer default 3,
  recovery_threshold integer default 1,
  confirm_every interval default null,
  follow_redirects integer default 0,
  insecure boolean default false,
  group_name text default null,
  tags text[] default '{}',
  regions text[] default '{default}',
  enabled boolean default true
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  target constant text := uptuple.service_url(url);
  config constant jsonb := uptuple.http_config(method, headers, body, expected_statuses, follow_redirects, insecure);
  time_limit constant interval := coalesce(timeout, least(every, interval '10 seconds'));
  new_id bigint;
begin
  enabled := coalesce(enabled, true);
  group_name := nullif(group_name, '');
  perform uptuple.check_name('name', name);
  if group_name is not null then
    perform uptuple.check_name('group_name', group_name);
  end if;
  perform uptuple.check_schedule(every, time_limit, confirm_every, failure_threshold, recovery_threshold, regions, tags);

  insert into uptuple.service (
    name, group_name, tags, regions, enabled, interval_seconds, phase_seconds, phase_ms, first_slot,
    failure_threshold, recovery_threshold, confirm_seconds
  )
  values (
    name, group_name, tags, regions, enabled, extract(epoch from every), 0, 0, 0,
    failure_threshold, recovery_threshold, extract(epoch from confirm_every)
  )
  on conflict do nothing
  returning service.id into new_id;

  if new_id is null then
    raise exception 'there is already a service named %', quote_literal(name)
      using errcode = 'unique_violation', hint = 'Choose another name, or change this one with update_service.';
  end if;

  insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
  values (new_id, 1, 'http', target, config, extract(epoch from time_limit) * 1000);
  insert into uptuple.region (name)
  select region from unnest(regions) region
  on conflict do nothing;
  insert into uptuple.service_state (service_id, region)
  select new_id, region from unnest(regions) region;
  perform uptuple.note_membership(new_id);

  if enabled then
    perform uptuple.start_grid(new_id, extract(epoch from every)::integer);
    perform uptuple.enqueue_request(new_id, 'FIRST');
  end if;
  return new_id;
end
$function$;

comment on function uptuple.add_service(
  text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], text[], boolean
) is
  'Watch a service. Returns its id. Probed at once, then in each window of every (1 second to 1 day, default 30 seconds). '
  'timeout: up to the smaller of every and 20 seconds (default 10, or every if that is shorter). expected_statuses: ''200-299, 401''. follow_redirects: 0 to 5. '
  'failure_threshold DOWNs in a row open an incident, recovery_threshold UPs close it; between the first DOWN and the threshold '
  'the next check comes after confirm_every. Headers, body and url may hold ${UPTUPLE_SECRET_NAME}.';

revoke execute on function uptuple.add_service(
  text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], text[], boolean
) from public;
grant execute on function uptuple.add_service(
  text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], text[], boolean
) to uptuple_operator;
