-- Which channels would be told if this happened to a service now, and why or why not. Reads only.
create or replace function uptuple.who_is_told(service text default null, kind text default 'service.failed')
returns table (channel text, told boolean, because text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  watched uptuple.service;
  asked uptuple.event_kinds;
begin
  if service is not null then
    select found_service.* into watched
    from uptuple.service found_service
    where found_service.name = service and found_service.removed_at is null;
    if not found then
      raise exception 'there is no service named %', quote_literal(service)
        using errcode = 'UT001', hint = 'select service from uptuple.status lists the services.';
    end if;
  end if;
  select event_kinds.* into asked from uptuple.event_kinds where event_kinds.kind = kind;
  if not found then
    raise exception '% is no kind of notice', coalesce(quote_literal(kind), 'null')
      using errcode = 'invalid_parameter_value', hint = 'select kind, meaning from uptuple.event_kinds lists them.';
  end if;

  -- What follows something else goes where that went: asked is whether that would go there.
  select first_of.* into asked
  from uptuple.event_kinds first_of
  where first_of.kind = coalesce(asked.follows[1], kind);

  return query
  select listed.name,
    listed.enabled and case when kind = 'service.escalated' then decided.escalation is not null else decided.is_led end,
    case
      when not listed.enabled then 'it is disabled'
      when kind = 'service.escalated' and decided.escalation is null then 'nothing is escalated to it'
      when kind = 'service.escalated' then 'after ' || decided.escalation || ' without acknowledgement'
      when not decided.is_led and decided.escalation is not null then 'only what is escalated to it, after ' || decided.escalation
      when not decided.is_led then 'none of its routes leads there'
      when asked.kind <> kind then 'it goes where ' || asked.kind || ' went'
      when not decided.has_routes then 'it has no route, so it gets everything'
      else 'by route ' || decided.route_id
    end
  from uptuple.channel listed
  cross join lateral (
    select count(*) > 0 as has_routes,
      uptuple.is_routed(listed.id, asked.kind, asked.severity, watched.id, watched.group_name, watched.tags) as is_led,
      min(fitting.id) filter (where fitting.after is null) as route_id,
      min(fitting.after) as escalation
    from uptuple.route
    left join lateral (
      select route.id, route.after
      where uptuple.route_fits(route, watched.id, watched.group_name, watched.tags)
        and (route.kinds is null or asked.kind = any (route.kinds))
    ) fitting on true
    where route.channel_id = listed.id
  ) decided
  where listed.removed_at is null
  order by 2 desc, 1;
end
$function$;

comment on function uptuple.who_is_told(text, text) is
  'Which channels would be told of a kind of notice (default service.failed) about a service now, and why or why not. Without a service: of '
  'what concerns none, such as worker.quarantined.';

revoke execute on function uptuple.who_is_told(text, text) from public;
grant execute on function uptuple.who_is_told(text, text) to uptuple_operator, uptuple_viewer;
