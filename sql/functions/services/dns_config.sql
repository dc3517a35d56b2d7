-- The configuration of a DNS check: which records to ask for, whom to ask, and what the answers must be.
--
-- answers is a list of which each must be among those that come, or {"exactly": [...]} or {"any_of": [...]}. They are kept as
-- dns_wanted spells them, so that 2001:DB8::1 is 2001:db8::1. Reads nothing; called by check_config.
create or replace function uptuple.dns_config(options jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  known_types constant text[] := '{A,AAAA,CNAME,MX,NS,TXT,SOA,SRV,PTR,CAA}';
  record_type constant text := upper(coalesce(options ->> 'record_type', 'A'));
  answers jsonb := options -> 'answers';
  rule text;
begin
  if record_type <> all (known_types) then
    raise exception 'options has the record_type %, which cannot be asked for', quote_literal(left(record_type, 100))
      using errcode = 'invalid_parameter_value', hint = 'Use one of ' || array_to_string(known_types, ', ') || '.';
  end if;
  if jsonb_typeof(answers) = 'array' then
    answers := jsonb_build_object('all_of', answers);
  end if;
  if answers is not null then
    select min(key) into rule from jsonb_object_keys(case when jsonb_typeof(answers) = 'object' then answers end) key having count(*) = 1;
    if (
      rule in ('all_of', 'exactly', 'any_of') and jsonb_typeof(answers -> rule) = 'array' and jsonb_array_length(answers -> rule) between 1 and 50
      and not jsonb_path_exists(answers -> rule, 'strict $[*] ? (@.type() != "string" || @ == "")')
      and length(answers::text) <= 8000
    ) is not true then
      raise exception 'options has answers that are not a list of 1 to 50 texts'
        using errcode = 'invalid_parameter_value',
              hint = 'For example ''{"answers": ["93.184.216.34"]}'': each must come; {"exactly": [...]}: these and no others; {"any_of": [...]}: one at least.';
    end if;
    answers := jsonb_build_object(rule, (
      select jsonb_agg(distinct uptuple.dns_wanted(record_type, answer)) from jsonb_array_elements_text(answers -> rule) answer
    ));
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'record_type', record_type,
    'resolver', uptuple.dns_resolver(options -> 'resolver'),
    'answers', answers
  ));
end
$function$;

comment on function uptuple.dns_config(jsonb) is 'The configuration of a dns: check as service_revision stores it.';

revoke execute on function uptuple.dns_config(jsonb) from public;
