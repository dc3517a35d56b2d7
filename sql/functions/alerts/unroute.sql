-- Take back a route or an escalation by its id, or all of a channel. A channel that has none left gets everything again.
--
-- Notices that exist stay, and what follows them goes where they went. Holds the channel table against write_events. Writes route.
create or replace function uptuple.unroute(channel text default null, route_id bigint default null)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  target uptuple.channel;
  removed integer;
begin
  if (channel is null) = (route_id is null) then
    raise exception 'give either channel or route_id'
      using errcode = 'invalid_parameter_value', hint = 'select route_id, channel from uptuple.routes lists the routes.';
  end if;
  lock table uptuple.channel in exclusive mode;
  if channel is not null then
    target := uptuple.find_channel(channel);
    delete from uptuple.route where route.channel_id = target.id;
  else
    delete from uptuple.route where route.id = route_id;
    if not found then
      raise exception 'there is no route %', route_id
        using errcode = 'UT001', hint = 'select route_id, channel from uptuple.routes lists the routes.';
    end if;
  end if;
  get diagnostics removed = row_count;
  return removed;
end
$function$;

comment on function uptuple.unroute(text, bigint) is
  'Take back one route or escalation by its id, or all of a channel; one that has none left gets everything again. Returns how many.';

revoke execute on function uptuple.unroute(text, bigint) from public;
grant execute on function uptuple.unroute(text, bigint) to uptuple_operator;
