-- The canonical form of a mail server's URL, with its port, or an error that says what is wrong with this one.
--
-- smtp:// speaks plainly first and upgrades by STARTTLS, usually on 587; smtps:// speaks TLS from the start, usually on 465. Reads nothing.
-- Called by check_channel.
create or replace function uptuple.smtp_url(url text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  parts constant text[] := regexp_match(url, '^(smtps?)://([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?/?$', 'i');
begin
  if parts is null or coalesce(parts[4]::integer, 25) not between 1 and 65535 or parts[2] ~ '\.\.' then
    raise exception 'url % is not that of a mail server', coalesce(quote_literal(url), 'null')
      using errcode = 'invalid_parameter_value',
        hint = 'Write smtp://mail.example.com:587, or smtps://mail.example.com:465 for TLS from the start; user and password go into options.';
  end if;
  return lower(parts[1]) || '://' || lower(parts[2]) || ':' || coalesce(parts[4]::integer, case lower(parts[1]) when 'smtps' then 465 else 587 end);
end
$function$;

comment on function uptuple.smtp_url(text) is
  'The canonical form of a mail server''s URL, smtp:// or smtps:// with host and port, or an error that names the cure.';

revoke execute on function uptuple.smtp_url(text) from public;
