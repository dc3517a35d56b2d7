-- Tell another channel of failures that nobody has acknowledged for a while.
--
-- Counts from the FAILED, and anew from an acknowledgement that is taken back. A channel is escalated to once in an incident, and gets
-- the recovery as well. Also incidents that are open now. Writes route through put_route.
create or replace function uptuple.escalate(
  channel text,
  after interval default interval '15 minutes',
  services text[] default null,
  groups text[] default null,
  tags text[] default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  if (after between interval '0' and interval '7 days') is not true then
    raise exception 'after is %, and must be between 0 and 7 days', coalesce(after::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'The default is 15 minutes.';
  end if;
  return uptuple.put_route(channel, services, groups, tags, 'info', null, after);
end
$function$;

comment on function uptuple.escalate(text, interval, text[], text[], text[]) is
  'Tell a channel of failures that nobody has acknowledged for a while (after, default 15 minutes): of the services named, in one of the '
  'groups or with one of the tags; without any of these, of every service. A channel that has no route beside gets nothing else. '
  'Returns an id for unroute.';

revoke execute on function uptuple.escalate(text, interval, text[], text[], text[]) from public;
grant execute on function uptuple.escalate(text, interval, text[], text[], text[]) to uptuple_operator;
