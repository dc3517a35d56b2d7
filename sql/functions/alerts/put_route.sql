-- Write a route or, with after, an escalation. What route and escalate have in common.
--
-- Holds the channel table against write_events, so that what happens meanwhile follows the routes of before or of after, and incidents
-- that are open are looked at anew. Notices that exist stay as they are. Writes route and incident.
create or replace function uptuple.put_route(
  channel text,
  services text[],
  groups text[],
  tags text[],
  min_severity text,
  kinds text[],
  after interval
)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  target uptuple.channel;
  unknown text;
  new_id bigint;
begin
  if services = '{}' or groups = '{}' or tags = '{}' or kinds = '{}' then
    raise exception 'services, groups, tags and kinds must not be empty'
      using errcode = 'invalid_parameter_value', hint = 'Leave out what should not select; a route without any of them selects every service.';
  end if;
  if (min_severity in ('info', 'warning', 'critical')) is not true then
    raise exception 'min_severity is %, and must be info, warning or critical', coalesce(quote_literal(min_severity), 'null')
      using errcode = 'invalid_parameter_value', hint = 'critical: something is down. warning: something needs a look before it is.';
  end if;
  select given into unknown from unnest(services) given
  where not exists (select from uptuple.service where service.name = given and service.removed_at is null);
  if found then
    raise exception 'there is no service named %', coalesce(quote_literal(unknown), 'null')
      using errcode = 'UT001', hint = 'select service from uptuple.status lists the services.';
  end if;
  select given into unknown from unnest(kinds) given
  where not exists (select from uptuple.event_kinds where event_kinds.kind = given);
  if found then
    raise exception '% is no kind of notice', coalesce(quote_literal(unknown), 'null')
      using errcode = 'invalid_parameter_value', hint = 'select kind, meaning from uptuple.event_kinds lists them.';
  end if;
  if not exists (select from uptuple.event_kinds where event_kinds.follows is null and event_kinds.kind = any (kinds)) and kinds is not null then
    raise exception 'none of the kinds begins anything'
      using errcode = 'invalid_parameter_value',
            hint = 'Recoveries and reminders go where their failure went; name service.failed, or another kind that follows none.';
  end if;

  lock table uptuple.channel in exclusive mode;
  target := uptuple.find_channel(channel);
  insert into uptuple.route (channel_id, service_ids, group_names, tags, min_severity, kinds, after)
  values (
    target.id,
    (select array_agg(service.id order by service.id) from uptuple.service where service.name = any (services) and service.removed_at is null),
    groups, tags, min_severity, kinds, after
  )
  returning route.id into new_id;

  if after is not null then
    perform uptuple.look_again();
  end if;
  return new_id;
end
$function$;

comment on function uptuple.put_route(text, text[], text[], text[], text, text[], interval) is
  'Writes a route or an escalation. route and escalate are its callers.';

revoke execute on function uptuple.put_route(text, text[], text[], text[], text, text[], interval) from public;
