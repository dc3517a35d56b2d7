-- An answer that is expected of the DNS, in the spelling in which answers are compared, or an error if none of the type could ever be it.
--
-- Names in their own script are sent in punycode. Reads nothing; called by dns_config.
create or replace function uptuple.dns_wanted(record_type text, answer text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  wanted constant text := uptuple.dns_answer(record_type, answer);
  name constant text := substring(wanted from '[^ ]+$');
  version constant integer := case record_type when 'A' then 4 when 'AAAA' then 6 end;
  given integer;
begin
  begin
    given := case when version is not null then family(wanted::inet) end;
  exception when data_exception then
    given := 0;
  end;
  if given <> version then
    raise exception 'options has the answer %, which is no IPv% address', quote_literal(left(answer, 100)), version
      using errcode = 'invalid_parameter_value', hint = format('The answers to %s are IPv%s addresses.', record_type, version);
  end if;
  if record_type in ('CNAME', 'NS', 'PTR', 'MX', 'SRV') and name ~ '[^\u0001-\u007f]' then
    return left(wanted, -length(name)) || uptuple.canonical_host(name, name);
  end if;
  return wanted;
end
$function$;

comment on function uptuple.dns_wanted(text, text) is 'An answer that is expected of the DNS, in the spelling in which answers are compared.';

revoke execute on function uptuple.dns_wanted(text, text) from public;
