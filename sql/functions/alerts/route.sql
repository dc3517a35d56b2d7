-- Send a channel only what concerns some services: those named, and those in the groups or with one of the tags. Routes add up.
--
-- From now on; notices that exist stay, and what follows one that went to a channel goes there too. Writes route through put_route.
create or replace function uptuple.route(
  channel text,
  services text[] default null,
  groups text[] default null,
  tags text[] default null,
  min_severity text default 'info',
  kinds text[] default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  return uptuple.put_route(channel, services, groups, tags, min_severity, kinds, null);
end
$function$;

comment on function uptuple.route(text, text[], text[], text[], text, text[]) is
  'Send a channel only what concerns some services: those named, those in one of the groups, those with one of the tags; without any of these, '
  'every service. At least as severe as min_severity (info, warning, critical), and of these kinds (event_kinds). Several routes of a channel '
  'add up; a channel without any gets everything. A recovery, a reminder and the like go where their failure went. Returns the route''s id.';

revoke execute on function uptuple.route(text, text[], text[], text[], text, text[]) from public;
grant execute on function uptuple.route(text, text[], text[], text[], text, text[]) to uptuple_operator;
