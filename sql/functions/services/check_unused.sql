-- Refuses the arguments of an HTTP check for a check of another kind, where they would be stored and never looked at. Null: not given.
-- Reads nothing; called by check_config.
create or replace function uptuple.check_unused(
  kind text,
  target text,
  method text,
  headers jsonb,
  body text,
  expected_statuses text,
  follow_redirects integer,
  insecure boolean
)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  unused constant text := case
    when method is not null then 'method'
    when headers is not null then 'headers'
    when body is not null then 'body'
    when expected_statuses is not null then 'expected_statuses'
    when follow_redirects is not null then 'follow_redirects'
    when insecure and (kind in ('dns', 'heartbeat') or target ~ '^tcp:') then 'insecure'
  end;
begin
  if unused is not null then
    raise exception '% is given, and a check of % does not use it', unused, quote_literal(split_part(target, ':', 1) || ':')
      using errcode = 'invalid_parameter_value',
            hint = case unused
              when 'insecure' then 'Leave it out; there is no certificate to verify.'
              when 'body' then 'Leave it out. What is sent over tcp:// and tls:// is the option "send".'
              else 'Leave it out; it belongs to http:// and https://.'
            end;
  end if;
end
$function$;

comment on function uptuple.check_unused(text, text, text, jsonb, text, text, integer, boolean) is
  'Refuses the arguments of an HTTP check for a check of another kind.';

revoke execute on function uptuple.check_unused(text, text, text, jsonb, text, text, integer, boolean) from public;
