-- The canonical form of what a check of a kind probes, or an error that says what is wrong with the URL. Reads nothing; called by
-- add_service and update_service.
create or replace function uptuple.service_target(kind text, url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if length(url) > 2000 then
    raise exception 'url is % characters long', length(url)
      using errcode = 'invalid_parameter_value', hint = 'A URL may have up to 2000 characters.';
  end if;
  if kind <> 'http' and url ~ '[[:space:][:cntrl:]\\<>"^`|]' then
    raise exception 'url % has a character that a URL cannot hold', quote_literal(uptuple.shown_url(url))
      using errcode = 'invalid_parameter_value', hint = 'Leave out blanks, quotes, backslashes and control characters.';
  end if;
  return case kind
    when 'http' then uptuple.service_url(url)
    when 'dns' then uptuple.dns_target(url)
    when 'postgresql' then uptuple.postgresql_target(url)
    when 'heartbeat' then uptuple.heartbeat_target(url)
    else uptuple.socket_target(url)
  end;
end
$function$;

comment on function uptuple.service_target(text, text) is 'The canonical form of what a check of a kind probes, or an error that names the cure.';

revoke execute on function uptuple.service_target(text, text) from public;
