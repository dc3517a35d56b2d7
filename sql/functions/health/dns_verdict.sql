-- The verdict on the answers of the DNS: DOWN if there are none, or not those that are expected. Reads nothing; called by other_verdict.
create or replace function uptuple.dns_verdict(config jsonb, observation jsonb)
returns uptuple.verdict
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  record_type constant text := config ->> 'record_type';
  answers constant text[] := array(
    select distinct uptuple.dns_answer(record_type, answer) as spelled from jsonb_array_elements_text(observation -> 'answers') answer order by spelled
  );
  rule constant text := (select key from jsonb_object_keys(config -> 'answers') key);
  expected constant text[] := array(select jsonb_array_elements_text(config -> 'answers' -> rule));
  shown constant text := record_type || ' ' || uptuple.printable(array_to_string(answers[1:10], ', '), 200);
  holds constant boolean := case rule
    when 'all_of' then answers @> expected
    when 'exactly' then answers @> expected and answers <@ expected
    when 'any_of' then answers && expected
    else true
  end;
begin
  if cardinality(answers) = 0 then
    return ('DOWN', 'dns.no_answer', format('there is no %s record', record_type), null)::uptuple.verdict;
  end if;
  return case
    when holds then ('UP', null, shown, null)::uptuple.verdict
    else ('DOWN', 'dns.answers', left(format(
      '%s, expected %s %s', shown,
      case rule when 'all_of' then 'all of' when 'any_of' then 'any of' else rule end,
      array_to_string(expected, ', ')
    ), 500), null)::uptuple.verdict
  end;
end
$function$;

comment on function uptuple.dns_verdict(jsonb, jsonb) is 'The verdict on the answers of the DNS: DOWN if there are none, or not those that are expected.';

revoke execute on function uptuple.dns_verdict(jsonb, jsonb) from public;
grant execute on function uptuple.dns_verdict(jsonb, jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
