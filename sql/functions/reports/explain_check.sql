-- Why a check came out as it did: its verdict, and a row for each assertion of the revision that it was made with.
--
-- Outcomes are kept for checks that were not plainly UP; where a check was UP all of them held, and what they found is not kept. Without
-- an answer there was nothing to hold them against (NOT_JUDGED). Given a service instead of a job: its last check that has a result, or
-- else its newest job. Reads job, result, service_revision.
create or replace function uptuple.explain_check(job_id bigint default null, service text default null)
returns table (
  job bigint,
  name text,
  region text,
  revision integer,
  scheduled_at timestamptz,
  state text,
  status text,
  code text,
  reason text,
  assertion text,
  outcome text,
  expected text,
  found text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  wanted_job constant bigint := job_id;
  wanted_service constant bigint := case when wanted_job is null and service is not null then uptuple.watched_service(service) end;
  made uptuple.job;
  result uptuple.result;
  service_name text;
  made_with uptuple.service_revision;
  fate text;
begin
  if (wanted_job is null) = (service is null) then
    raise exception 'explain_check needs a job or a service'
      using errcode = 'invalid_parameter_value', hint = 'For example select * from uptuple.explain_check(service => ''inventory'').';
  end if;
  if wanted_job is not null then
    select kept.* into made from uptuple.job kept where kept.id = wanted_job;
  else
    select kept.* into made
    from uptuple.job kept
    join uptuple.service watched on watched.id = wanted_service
    where kept.service_id = wanted_service and kept.region = watched.regions[1]
    order by kept.state = 'DONE' desc, kept.scheduled_slot desc
    limit 1;
  end if;
  if made.id is null then
    raise exception 'there is no job %', coalesce(wanted_job::text, format('of %L', service))
      using errcode = 'UT001', hint = 'Jobs are kept for some days; the view kept says how many.';
  end if;

  select kept.* into result
  from uptuple.result kept
  where kept.service_id = made.service_id and kept.region = made.region and kept.scheduled_slot = made.scheduled_slot and kept.purpose <> 'MANUAL';
  select watched.name into service_name from uptuple.service watched where watched.id = made.service_id;
  select kept.* into made_with from uptuple.service_revision kept where kept.service_id = made.service_id and kept.revision = made.revision;
  fate := case made.state
    when 'READY' then format('it waits to be claimed, at the earliest at %s', made.due_at)
    when 'RUNNING' then format('%s makes it, attempt %s', made.worker, made.attempts)
    when 'MISSED' then 'nobody claimed it before it was too late'
    when 'DONE' then 'its result is no longer kept'
    else made.error
  end;

  return query
  select made.id, service_name, made.region, made.revision, to_timestamp(made.scheduled_slot), made.state,
    result.status, result.code, coalesce(result.reason, fate), row.assertion, row.outcome, row.expected, row.found
  from (select 1) always
  left join lateral (
    select 0 as place, 'expected_statuses' as assertion,
      case when (made_with.config ->> 'expected_statuses')::int4multirange @> result.http_status then 'PASS' else 'FAIL' end as outcome,
      uptuple.status_text((made_with.config ->> 'expected_statuses')::int4multirange) as expected,
      result.http_status::text as found
    where result.http_status is not null and made_with.config ? 'expected_statuses' and not made_with.config ? 'status_asserted'
    union all
    select each.place, uptuple.assertion_text(each.value),
      coalesce(kept.value ->> 'outcome', case when result.status = 'UP' then 'PASS' else 'NOT_JUDGED' end),
      uptuple.assertion_expected(each.value),
      kept.value ->> 'found'
    from jsonb_array_elements(made_with.config -> 'assertions') with ordinality each (value, place)
    left join jsonb_array_elements(result.detail -> 'assertions') with ordinality kept (value, place) on kept.place = each.place
    where result.status is not null
  ) row on true
  order by row.place;
end
$function$;

comment on function uptuple.explain_check(bigint, text) is
  'Why a check came out as it did: explain_check(12345) for a job, explain_check(service => ''inventory'') for the last one of a service. Its '
  'verdict, the revision it was made with, and a row for each assertion: PASS, FAIL, MISSING, INVALID_JSON, UNKNOWN, ERROR, or NOT_JUDGED where '
  'there was no answer. What was found is kept for checks that were not UP.';

revoke execute on function uptuple.explain_check(bigint, text) from public;
grant execute on function uptuple.explain_check(bigint, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
