-- What a check comes to, of what its target did and the outcomes of its assertions, null if all of them hold. Reads nothing; called by
-- judge_check and replayed_verdict.
--
-- An assertion that does not hold makes it DOWN, or DEGRADED if it says so; DOWN beats DEGRADED, and each one that fails names itself in
-- the reason. One that broke, or that could not be decided, costs the check its verdict, unless it is DOWN whatever that one says.
create or replace function uptuple.verdict_on_outcomes(base uptuple.verdict, outcomes jsonb)
returns uptuple.verdict
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  of_target constant uptuple.verdict := base;
  status text;
  code text;
  reasons text;
begin
  if outcomes is null or not jsonb_path_exists(outcomes, '$[*] ? (@.outcome != "PASS")') then
    return (of_target.status, of_target.code, of_target.reason, case when of_target.status <> 'UP' then outcomes end)::uptuple.verdict;
  end if;

  select
    case
      when of_target.status = 'DOWN' or bool_or(failed.verdict = 'DOWN') then 'DOWN'
      when bool_or(failed.verdict = 'INCONCLUSIVE') then 'INCONCLUSIVE'
      else 'DEGRADED'
    end,
    (array_agg(failed.code order by array_position('{DOWN,INCONCLUSIVE,DEGRADED}', failed.verdict), failed.place))[1],
    string_agg(left(format('%s: found %s', failed.assertion, failed.found), 250), '; '
      order by array_position('{DOWN,INCONCLUSIVE,DEGRADED}', failed.verdict), failed.place)
  into status, code, reasons
  from (
    select place, value ->> 'assertion' as assertion, value ->> 'found' as found, value ->> 'code' as code,
      case when value ->> 'outcome' in ('ERROR', 'UNKNOWN') then 'INCONCLUSIVE' else value ->> 'otherwise' end as verdict
    from jsonb_array_elements(outcomes) with ordinality entry (value, place)
    where value ->> 'outcome' <> 'PASS'
  ) failed;

  return (
    status,
    case when of_target.status = 'DOWN' then of_target.code else code end,
    left(case when of_target.status = 'DOWN' then of_target.reason || '; ' else '' end || reasons, 500),
    outcomes
  )::uptuple.verdict;
end
$function$;

comment on function uptuple.verdict_on_outcomes(uptuple.verdict, jsonb) is 'What a check comes to, of what its target did and the outcomes of its assertions.';

revoke execute on function uptuple.verdict_on_outcomes(uptuple.verdict, jsonb) from public;
grant execute on function uptuple.verdict_on_outcomes(uptuple.verdict, jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
