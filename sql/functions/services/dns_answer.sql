-- An answer of the DNS in the spelling in which answers are compared: addresses in their usual form, names in lower case and without the
-- dot at the end, texts as they are. What is no address where one is due stays as it is and equals nothing. Reads nothing; called by
-- dns_config for what is expected, and by dns_verdict for what came.
create or replace function uptuple.dns_answer(record_type text, answer text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if record_type in ('A', 'AAAA') then
    return host(answer::inet);
  end if;
  return case when record_type in ('TXT', 'CAA') then answer else rtrim(lower(regexp_replace(btrim(answer), '\.?\s+', ' ', 'g')), '.') end;
exception when data_exception then
  return answer;
end
$function$;

comment on function uptuple.dns_answer(text, text) is 'An answer of the DNS in the spelling in which answers are compared.';

revoke execute on function uptuple.dns_answer(text, text) from public;
