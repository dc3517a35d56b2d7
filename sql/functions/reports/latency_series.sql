-- Percentiles of a service's latency over a stretch that ends now, in points of equal length: what its chart is drawn from.
--
-- stretch is 1h (points of a minute), 6h (5 minutes), 24h (15 minutes), 7d (an hour), 30d (4 hours) or 90d (a day, UTC). The three short
-- ones come from results, exactly, by the nearest rank; the others from the histograms of the roll-ups, within 4.4 %, with what is
-- not rolled up yet through history, as one point a day where roll_up is behind. Latencies are those of windows that were UP or DEGRADED. A point in which no window was up has
-- nulls, and is missing where nothing was checked at all.
create or replace function uptuple.latency_series(service text, stretch text default '24h')
returns table (at timestamptz, checks bigint, down bigint, p50 real, p95 real, p99 real)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  wanted constant bigint := uptuple.watched_service(service);
  moment constant timestamptz := clock_timestamp();
  now_second constant bigint := extract(epoch from moment);
  step constant bigint := case stretch when '1h' then 60 when '6h' then 300 when '24h' then 900 when '7d' then 3600 when '30d' then 14400 when '90d' then 86400 end;
  length constant bigint := case stretch when '1h' then 3600 when '6h' then 21600 when '24h' then 86400 when '7d' then 604800 when '30d' then 2592000 when '90d' then 7776000 end;
  from_slot constant bigint := (now_second - length) / step * step + step;
  rolled_until constant bigint := (select roll_up_mark.rolled_until from uptuple.roll_up_mark where only_row);
begin
  if step is null then
    raise exception 'stretch is %, and must be 1h, 6h, 24h, 7d, 30d or 90d', coalesce(quote_literal(stretch), 'null')
      using errcode = 'invalid_parameter_value', hint = 'For example stretch => ''24h''.';
  end if;

  if step < 3600 then
    return query
    select to_timestamp(result.scheduled_slot / step * step), count(*), count(*) filter (where result.status = 'DOWN'),
      percentile_disc(0.50) within group (order by result.latency_ms) filter (where result.status in ('UP', 'DEGRADED')),
      percentile_disc(0.95) within group (order by result.latency_ms) filter (where result.status in ('UP', 'DEGRADED')),
      percentile_disc(0.99) within group (order by result.latency_ms) filter (where result.status in ('UP', 'DEGRADED'))
    from uptuple.service_state state
    join uptuple.result on result.service_id = state.service_id and result.region = state.region
    where state.service_id = wanted and result.purpose = 'GRID' and result.scheduled_slot between from_slot and now_second
      and result.status in ('UP', 'DEGRADED', 'DOWN')
    group by 1
    order by 1;
    return;
  end if;

  return query
  with piece as materialized (
    select hour.hour as starts_at, hour.up, hour.down, hour.latency_buckets, hour.latency_counts
    from uptuple.service_state state
    join uptuple.service_hour hour on hour.service_id = state.service_id and hour.region = state.region
    where step < 86400 and state.service_id = wanted and hour.hour >= to_timestamp(from_slot) and hour.hour < to_timestamp(rolled_until)
    union all
    select part.starts_at, part.up, part.down, part.latency_buckets, part.latency_counts
    from uptuple.history(
      array[wanted], to_timestamp(case when step < 86400 then greatest(from_slot, rolled_until) else from_slot end), moment, true
    ) part
  ),
  counted as (
    select extract(epoch from piece.starts_at)::bigint / step * step as point, sum(piece.up + piece.down) as checks, sum(piece.down) as down
    from piece
    group by 1
    having sum(piece.up + piece.down) > 0
  ),
  ranked as (
    select summed.point, summed.number, sum(summed.windows) over (partition by summed.point order by summed.number) as up_to,
      sum(summed.windows) over (partition by summed.point) as of_all
    from (
      select extract(epoch from piece.starts_at)::bigint / step * step as point, bucket.number, sum(bucket.windows) as windows
      from piece
      cross join lateral unnest(piece.latency_buckets, piece.latency_counts) bucket (number, windows)
      group by 1, 2
    ) summed
  ),
  rank as (
    select ranked.point,
      min(ranked.number) filter (where ranked.up_to >= 0.50 * ranked.of_all) as p50,
      min(ranked.number) filter (where ranked.up_to >= 0.95 * ranked.of_all) as p95,
      min(ranked.number) filter (where ranked.up_to >= 0.99 * ranked.of_all) as p99
    from ranked
    group by ranked.point
  )
  select to_timestamp(counted.point), counted.checks, counted.down, uptuple.bucket_ms(rank.p50), uptuple.bucket_ms(rank.p95), uptuple.bucket_ms(rank.p99)
  from counted
  left join rank on rank.point = counted.point
  order by counted.point;
end
$function$;

comment on function uptuple.latency_series(text, text) is
  'Latency percentiles of a service in points of equal length, in ms: over 1h, 6h, 24h (default), 7d, 30d or 90d up to now, with how many '
  'checks each point had and how many of them failed.';

revoke execute on function uptuple.latency_series(text, text) from public;
grant execute on function uptuple.latency_series(text, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
