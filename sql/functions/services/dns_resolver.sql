-- A resolver as address and port, such as 1.1.1.1:53 or [2606:4700::1111]:53; the port is 53 if it is left out. Null: the system's own.
-- Reads nothing; called by dns_config.
create or replace function uptuple.dns_resolver(resolver jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  parts text[] := regexp_match(resolver #>> '{}', '^([0-9A-Fa-fXx.]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$');
  address inet;
begin
  if resolver is null or jsonb_typeof(resolver) = 'null' then
    return null;
  end if;
  -- An IPv6 address alone needs no brackets.
  if parts is null and resolver #>> '{}' ~ '^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$' then
    parts := array['[' || (resolver #>> '{}') || ']', null];
  end if;
  begin
    -- 0177.0.0.1 is 127.0.0.1 here as it is in a URL; to inet it is 177.0.0.1.
    address := case when parts[1] ~ '^\[' then btrim(parts[1], '[]') else uptuple.ipv4_host(parts[1]) end::inet;
  exception when data_exception then
    address := null;
  end;
  if address is null or coalesce(parts[2]::integer, 53) not between 1 and 65535 then
    raise exception 'options has the resolver %, which is no address', quote_literal(left(resolver #>> '{}', 100))
      using errcode = 'invalid_parameter_value', hint = 'Give an address, with or without a port: "1.1.1.1", "[2606:4700:4700::1111]:53".';
  end if;
  return case family(address) when 6 then '[' || host(address) || ']' else host(address) end || ':' || coalesce(parts[2]::integer, 53);
end
$function$;

comment on function uptuple.dns_resolver(jsonb) is 'A resolver as address and port, or an error that names the cure.';

revoke execute on function uptuple.dns_resolver(jsonb) from public;
