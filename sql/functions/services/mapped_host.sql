-- A host name as UTS 46 maps it before it is encoded, nontransitionally: lower case, compatible forms made one, what nobody sees left out.
--
-- Whatever the locale of the database is: und-x-icu knows every capital. The sigma is mapped here, since ICU looks at what stands beside it.
-- Raises undefined_object on a server that was built without ICU. Reads nothing. Called by canonical_host.
create or replace function uptuple.mapped_host(host text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  unseen constant text := '[\u00ad\u034f\u180b-\u180d\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff\U0001bca0-\U0001bca3\U000e0100-\U000e01ef]';
begin
  if host !~ '[^\u0001-\u007f]' then
    return lower(host);
  end if;
  host := normalize(regexp_replace(host, unseen, '', 'g'), nfkc);
  host := translate(host, U&'\3002\FF61\03A3', U&'..\03C3');
  return normalize(lower(host collate "und-x-icu"), nfkc);
end
$function$;

comment on function uptuple.mapped_host(text) is 'A host name as UTS 46 maps it before it is encoded in punycode.';

revoke execute on function uptuple.mapped_host(text) from public;
