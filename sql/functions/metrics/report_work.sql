-- A runtime reports what it did since it last did: how late each of its claims was, whose leases it took over, and how its
-- completions were answered. For metrics only: totals that a lost acknowledgement may count twice.
--
-- late_ms: of each job claimed, from when it was due to the claim, in ms. outcomes: {"ACCEPTED": 12, "REFUSED": 1, ...}. Race, two runtimes of a
-- region: the totals are locked in one order. Called every few seconds by each runtime. Writes counter.
create or replace function uptuple.report_work(
  region text,
  late_ms integer[] default '{}',
  leases_expired integer default 0,
  outcomes jsonb default '{}'
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  perform uptuple.check_name('region', region);
  insert into uptuple.counter as known (name, labels, value)
  select fresh.name, fresh.labels, fresh.amount
  from (
    select 'job_lateness' as name, jsonb_build_object('region', region, 'bucket', bucket) as labels, count(*)::double precision as amount
    from (
      -- A bound belongs to the bucket that it ends; width_bucket, which puts it into the next one, is asked from above.
      select cardinality(uptuple.lateness_bounds()) + 1 - width_bucket(-greatest(late, 0) / 1000.0::double precision, array(
        select -bound from unnest(uptuple.lateness_bounds()) bound order by bound desc
      )) as bucket
      from unnest(late_ms) late
    ) placed
    group by bucket
    union all
    select 'job_lateness_seconds', jsonb_build_object('region', region), sum(greatest(late, 0)) / 1000.0 from unnest(late_ms) late having count(*) > 0
    union all
    select 'leases_expired', jsonb_build_object('region', region), leases_expired where leases_expired > 0
    union all
    select 'completions', jsonb_build_object('outcome', answer.key), answer.value::double precision
    from jsonb_each_text(outcomes) answer
    where answer.key in ('ACCEPTED', 'DUPLICATE', 'REFUSED', 'BROKEN') and answer.value ~ '^[0-9]{1,9}$'
  ) fresh
  order by fresh.name, fresh.labels
  on conflict on constraint counter_pkey do update set value = known.value + excluded.value;
end
$function$;

comment on function uptuple.report_work(text, integer[], integer, jsonb) is
  'A runtime reports how late its claims were (ms each), how many ended leases it took over, and how its completions were answered, '
  '{"ACCEPTED": 12, "REFUSED": 1}. For the metrics.';

revoke execute on function uptuple.report_work(text, integer[], integer, jsonb) from public;
grant execute on function uptuple.report_work(text, integer[], integer, jsonb) to uptuple_worker;
