-- Change a service. What is left out stays; an empty body, group_name or depends_on takes it away, and confirm_every of 0 gives back its default.
--
-- A change of what is sent or expected makes a new revision and touches no job that exists; a new interval starts a new grid after
-- now. Thresholds take effect with the next result; a change of them waits for those that are coming in. Locks in the order of everybody:
-- the cursor, the heartbeat, the state, and then what note_membership and depends_on lock. Writes service, service_revision, service_active,
-- heartbeat and service_state, and through those two the rest.
create or replace function uptuple.update_service(
  name text,
  new_name text default null,
  url text default null,
  every interval default null,
  timeout interval default null,
  method text default null,
  headers jsonb default null,
  body text default null,
  expected_statuses text default null,
  failure_threshold integer default null,
  recovery_threshold integer default null,
  confirm_every interval default null,
  follow_redirects integer default null,
  insecure boolean default null,
  group_name text default null,
  tags text[] default null,
  assertions jsonb default null,
  options jsonb default null,
  depends_on text default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  service uptuple.service;
  current uptuple.service_revision;
  target text;
  config jsonb;
  time_limit interval;
  old_interval interval;
begin
  -- What depends_on locks, before anything else is locked.
  if depends_on is not null then
    lock table uptuple.service in share row exclusive mode;
  end if;
  service := uptuple.find_service(name);
  old_interval := make_interval(secs => service.interval_seconds);
  select revision.* into strict current
  from uptuple.service_revision revision
  where revision.service_id = service.id and revision.revision = service.revision;

  if url is not null and uptuple.service_kind(url) <> current.kind then
    raise exception 'url % is another kind of check than %', quote_literal(uptuple.shown_url(url)), quote_literal(uptuple.shown_url(current.target))
      using errcode = 'invalid_parameter_value', hint = 'Add a service of its own for it: what came before would not compare.';
  end if;
  target := case when url is null then current.target else uptuple.service_target(current.kind, url) end;
  options := coalesce(options, uptuple.config_options(current.config));
  assertions := coalesce(assertions, current.config -> 'assertions', '[]');
  config := case current.kind
    when 'http' then uptuple.check_config(
      current.kind, target, coalesce(every, old_interval),
      coalesce(method, current.config ->> 'method'),
      coalesce(headers, current.config -> 'headers'),
      nullif(coalesce(body, current.config ->> 'body'), ''),
      coalesce(expected_statuses, uptuple.status_text((current.config ->> 'expected_statuses')::int4multirange)),
      coalesce(follow_redirects, (current.config ->> 'follow_redirects')::integer),
      coalesce(insecure, (current.config ->> 'insecure')::boolean),
      assertions, options
    )
    else uptuple.check_config(
      current.kind, target, coalesce(every, old_interval), method, headers, body, expected_statuses, follow_redirects,
      coalesce(insecure, (current.config ->> 'insecure')::boolean),
      assertions, options
    )
  end;
  -- A timeout that was not asked for shrinks with the interval rather than refuse it.
  time_limit := coalesce(timeout, least(make_interval(secs => current.timeout_ms / 1000.0), every));
  every := coalesce(every, old_interval);

  perform uptuple.check_name('new_name', coalesce(new_name, service.name));
  if group_name <> '' then
    perform uptuple.check_name('group_name', group_name);
  end if;
  perform uptuple.check_schedule(
    every, time_limit, nullif(confirm_every, interval '0'),
    coalesce(failure_threshold, service.failure_threshold), coalesce(recovery_threshold, service.recovery_threshold),
    service.regions, coalesce(tags, service.tags), service.probed
  );

  if (target, config, (extract(epoch from time_limit) * 1000)::integer) is distinct from (current.target, current.config, current.timeout_ms) then
    service.revision := service.revision + 1;
    insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
    values (service.id, service.revision, current.kind, target, config, extract(epoch from time_limit) * 1000);
  end if;

  begin
    update uptuple.service changed
    set name = coalesce(new_name, changed.name),
        group_name = case when group_name is null then changed.group_name else nullif(group_name, '') end,
        tags = coalesce(tags, changed.tags),
        revision = service.revision,
        failure_threshold = coalesce(failure_threshold, changed.failure_threshold),
        recovery_threshold = coalesce(recovery_threshold, changed.recovery_threshold),
        confirm_seconds = case when confirm_every is null then changed.confirm_seconds else nullif(extract(epoch from confirm_every), 0) end,
        updated_at = clock_timestamp()
    where changed.id = service.id;
  exception when unique_violation then
    raise exception 'there is already a service named %', quote_literal(new_name)
      using errcode = 'unique_violation', hint = 'Choose another new_name.';
  end;

  if every <> old_interval then
    if service.enabled then
      perform uptuple.start_grid(service.id, extract(epoch from every)::integer);
    else
      update uptuple.service changed
      set interval_seconds = extract(epoch from every), phase_seconds = 0
      where changed.id = service.id;
    end if;
  end if;
  perform uptuple.start_heartbeat(service.id);
  perform uptuple.note_rules(service.id);
  perform uptuple.note_membership(service.id);
  if depends_on is not null then
    perform uptuple.depends_on(coalesce(new_name, service.name), nullif(depends_on, ''));
  end if;
  return service.revision;
end
$function$;

comment on function uptuple.update_service(
  text, text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], jsonb, jsonb, text
) is
  'Change a service; what is left out stays as it is, an empty body, group_name or depends_on takes it away, confirm_every => ''0'' gives back its default. Returns the number of its revision. '
  'Jobs that exist keep the revision they were made with. assertions, options, headers and tags replace those there are as a whole (''[]'' and ''{}'' '
  'take them away); a new url is of the same kind. A new every starts a new grid, and shortens a timeout that it leaves no room for; thresholds '
  'take effect with the next result. disable_service and enable_service switch it off and on. '
  'Values as in add_service.';

revoke execute on function uptuple.update_service(
  text, text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], jsonb, jsonb, text
) from public;
grant execute on function uptuple.update_service(
  text, text, text, interval, interval, text, jsonb, text, text, integer, integer, interval, integer, boolean, text, text[], jsonb, jsonb, text
) to uptuple_operator;
