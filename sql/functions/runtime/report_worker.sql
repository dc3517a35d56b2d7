-- A runtime says that it lives: what it is, how many completions were accepted since its last report, and how well it sees.
--
-- It reports facts: how many probes in a row, up to now, nothing answered, and what its canaries answered, if they were tried since the last
-- report: [{"host", "observation"}, ...], of which one with a status from 200 to 399 is enough. Whether it is believed is decided here.
-- Leases alone decide who owns what. Called every few seconds by each runtime, and at once when all its probes fail. Locks the worker's
-- row before anything else. Writes worker and worker_contradiction; through judge_worker event and delivery.
create or replace function uptuple.report_worker(
  worker text,
  region text,
  roles text[],
  release integer,
  completed integer default 0,
  unanswered integer default null,
  canary jsonb default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  answers boolean;
  heard text;
  reported uptuple.worker;
begin
  perform uptuple.check_name('worker', worker);
  select bool_or(verdict.status = 'UP'),
    uptuple.printable(string_agg(format('%s: %s', tried.value ->> 'host', verdict.reason), '; ' order by tried.position), 500)
  into answers, heard
  from jsonb_array_elements(canary) with ordinality tried (value, position)
  cross join lateral uptuple.evaluate_observation('{"expected_statuses": "{[200,400)}"}', tried.value -> 'observation') verdict;

  insert into uptuple.worker as known (name, region, roles, release, completed_at, unanswered, canary_at, canary_answers, canary_reason)
  values (
    worker, region, roles, release, case when completed > 0 then clock_timestamp() end, coalesce(unanswered, 0),
    case when answers is not null then clock_timestamp() end, answers, heard
  )
  on conflict on constraint worker_pkey do update
    set region = excluded.region,
        roles = excluded.roles,
        release = excluded.release,
        seen_at = clock_timestamp(),
        completed_at = coalesce(excluded.completed_at, known.completed_at),
        stopped_at = null,
        unanswered = coalesce(unanswered, known.unanswered),
        canary_at = coalesce(excluded.canary_at, known.canary_at),
        canary_answers = coalesce(excluded.canary_answers, known.canary_answers),
        canary_reason = coalesce(excluded.canary_reason, known.canary_reason)
  returning * into reported;

  perform uptuple.judge_worker(reported, answers is not null);

  delete from uptuple.worker_contradiction
  where ctid = any (array(
    select old.ctid from uptuple.worker_contradiction old
    where old.noted_at < clock_timestamp() - interval '2 minutes'
    for update skip locked
  ));
end
$function$;

comment on function uptuple.report_worker(text, text, text[], integer, integer, integer, jsonb) is
  'A runtime reports that it lives, how many of its completions were accepted since it last did, how many probes in a row nothing answered, and '
  'what its canaries answered: [{"host", "observation"}, ...], if they were tried since.';

revoke execute on function uptuple.report_worker(text, text, text[], integer, integer, integer, jsonb) from public;
grant execute on function uptuple.report_worker(text, text, text[], integer, integer, integer, jsonb) to uptuple_worker;
