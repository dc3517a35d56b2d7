-- heartbeat: has nothing after it, since nothing is probed. Reads nothing; called by service_target.
create or replace function uptuple.heartbeat_target(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if url !~* '^heartbeat:$' then
    raise exception 'url % has something after heartbeat:', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Write heartbeat: alone. Whoever does the work calls select uptuple.heartbeat(''name'').';
  end if;
  return 'heartbeat:';
end
$function$;

comment on function uptuple.heartbeat_target(text) is 'heartbeat: alone, or an error that names the cure.';

revoke execute on function uptuple.heartbeat_target(text) from public;
