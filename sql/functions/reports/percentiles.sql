-- Percentiles of a service's latency between two moments, in ms, each within 4.4 % of the true one, and the exact mean.
--
-- Of the windows that were UP or DEGRADED, by the nearest rank: p95 is the smallest latency that 95 % of them do not exceed. From the
-- histograms of the roll-ups, merged, with the rest from results in the same buckets. Null where no window was up.
create or replace function uptuple.percentiles(
  service text,
  since timestamptz default clock_timestamp() - interval '1 day',
  until timestamptz default clock_timestamp()
)
returns table (windows bigint, mean real, p50 real, p95 real, p99 real)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  with piece as materialized (
    select * from uptuple.history(array[uptuple.watched_service($1)], $2, $3, true)
  ),
  ranked as (
    select bucket.number, sum(sum(bucket.windows)) over (order by bucket.number) as up_to, sum(sum(bucket.windows)) over () as of_all
    from piece
    cross join lateral unnest(piece.latency_buckets, piece.latency_counts) bucket (number, windows)
    group by bucket.number
  )
  select total.windows, total.mean, uptuple.bucket_ms(rank.p50), uptuple.bucket_ms(rank.p95), uptuple.bucket_ms(rank.p99)
  from (
    select coalesce(sum(piece.latency_count), 0) as windows,
      (sum(piece.latency_sum_us) / nullif(sum(piece.latency_count), 0) / 1000)::real as mean
    from piece
  ) total
  cross join (
    select min(ranked.number) filter (where ranked.up_to >= 0.50 * ranked.of_all) as p50,
      min(ranked.number) filter (where ranked.up_to >= 0.95 * ranked.of_all) as p95,
      min(ranked.number) filter (where ranked.up_to >= 0.99 * ranked.of_all) as p99
    from ranked
  ) rank;
$function$;

comment on function uptuple.percentiles(text, timestamptz, timestamptz) is
  'Latency of a service between two moments (default: the last day), in ms, over the windows that were up: how many, their mean, and '
  'percentiles within 5 %.';

revoke execute on function uptuple.percentiles(text, timestamptz, timestamptz) from public;
grant execute on function uptuple.percentiles(text, timestamptz, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
