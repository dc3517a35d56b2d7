-- What pages show of the past of services: 90 days, uptime with coverage over four stretches, latency by the hour. One row each.
--
-- uptimes and coverages are of the last 24 hours (whole hours and the present one), and of the last 7, 30 and 90 days (UTC, today
-- included), so that the figure for 90 days is what the 90 bars add up to. Days are told by how many days ago they were, 0 is today, hours
-- likewise, in no order. Days in which nothing was expected are missing, and are neither up nor down; hours without a window that was up are
-- missing from the latencies, which are means.
--
-- All of it comes from roll-ups, through history, except for the present hour, which is counted once. Of all services where none are named:
-- 0.6 s for 1,000 services at 60 s with 90 days, of which the present hour takes 0.1; 3 ms for one. So a runtime reads it for all once
-- a minute while somebody looks, and nobody waits for it but the first.
create or replace function uptuple.dashboard_history(services text[] default null)
returns table (
  service text,
  uptimes float8[],
  coverages float8[],
  days_ago integer[],
  day_expected integer[],
  day_up integer[],
  day_down integer[],
  hours_ago integer[],
  hour_ms real[]
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  today constant date := (at at time zone 'UTC')::date;
  today_starts constant timestamptz := today::timestamp at time zone 'UTC';
  last_day constant timestamptz := to_timestamp(floor(extract(epoch from at) / 3600) * 3600 - 86400);
  ids constant bigint[] := array(
    select watched.id from uptuple.service watched where watched.removed_at is null and (services is null or watched.name = any (services))
  );
begin
  return query
  with piece as materialized (
    select part.service_id, part.starts_at, (part.starts_at at time zone 'UTC')::date as day,
      part.expected, part.up, part.down, part.latency_count, part.latency_sum_us
    from uptuple.history(ids, (today - 89)::timestamp at time zone 'UTC', at, false) part
  ),
  by_day as materialized (
    select piece.service_id, piece.day, sum(piece.expected)::integer as expected, sum(piece.up)::integer as up, sum(piece.down)::integer as down
    from piece
    group by piece.service_id, piece.day
    having sum(piece.expected) > 0
  ),
  past as (
    select by_day.service_id, array_agg(today - by_day.day) as days_ago,
      array_agg(by_day.expected) as day_expected, array_agg(by_day.up) as day_up, array_agg(by_day.down) as day_down,
      sum(by_day.expected) filter (where by_day.day > today - 7) as expected_7, sum(by_day.up) filter (where by_day.day > today - 7) as up_7,
      sum(by_day.down) filter (where by_day.day > today - 7) as down_7,
      sum(by_day.expected) filter (where by_day.day > today - 30) as expected_30, sum(by_day.up) filter (where by_day.day > today - 30) as up_30,
      sum(by_day.down) filter (where by_day.day > today - 30) as down_30,
      sum(by_day.expected) as expected_90, sum(by_day.up) as up_90, sum(by_day.down) as down_90
    from by_day
    group by by_day.service_id
  ),
  by_hour as (
    select recent.service_id, date_bin('1 hour', recent.starts_at, 'epoch') as hour, sum(recent.expected) as expected, sum(recent.up) as up,
      sum(recent.down) as down, (sum(recent.latency_sum_us) / nullif(sum(recent.latency_count), 0) / 1000)::real as mean_ms
    from (
      select piece.service_id, piece.starts_at, piece.expected, piece.up, piece.down, piece.latency_count, piece.latency_sum_us
      from piece
      where piece.starts_at >= today_starts
      union all
      -- Yesterday is one piece above.
      select part.service_id, part.starts_at, part.expected, part.up, part.down, part.latency_count, part.latency_sum_us
      from uptuple.history(ids, last_day, today_starts, false) part
    ) recent
    group by recent.service_id, date_bin('1 hour', recent.starts_at, 'epoch')
  ),
  last_24 as (
    select by_hour.service_id, sum(by_hour.expected) as expected, sum(by_hour.up) as up, sum(by_hour.down) as down,
      array_agg((extract(epoch from last_day - by_hour.hour) / 3600 + 24)::integer) filter (where by_hour.mean_ms is not null) as hours_ago,
      array_agg(by_hour.mean_ms) filter (where by_hour.mean_ms is not null) as hour_ms
    from by_hour
    where by_hour.hour >= last_day
    group by by_hour.service_id
  )
  select watched.name,
    array[
      round(last_24.up::numeric / nullif(last_24.up + last_24.down, 0), 6)::float8,
      round(past.up_7::numeric / nullif(past.up_7 + past.down_7, 0), 6)::float8,
      round(past.up_30::numeric / nullif(past.up_30 + past.down_30, 0), 6)::float8,
      round(past.up_90::numeric / nullif(past.up_90 + past.down_90, 0), 6)::float8
    ],
    array[
      round((last_24.up + last_24.down)::numeric / nullif(last_24.expected, 0), 6)::float8,
      round((past.up_7 + past.down_7)::numeric / nullif(past.expected_7, 0), 6)::float8,
      round((past.up_30 + past.down_30)::numeric / nullif(past.expected_30, 0), 6)::float8,
      round((past.up_90 + past.down_90)::numeric / nullif(past.expected_90, 0), 6)::float8
    ],
    coalesce(past.days_ago, '{}'), coalesce(past.day_expected, '{}'), coalesce(past.day_up, '{}'), coalesce(past.day_down, '{}'),
    coalesce(last_24.hours_ago, '{}'), coalesce(last_24.hour_ms, '{}')
  from uptuple.service watched
  left join past on past.service_id = watched.id
  left join last_24 on last_24.service_id = watched.id
  where watched.id = any (ids);
end
$function$;

comment on function uptuple.dashboard_history(text[]) is
  'What pages show of the past of services (default: all): uptime and coverage over 24 hours and 7, 30 and 90 days (UTC, today included), the '
  'windows of each of 90 days, and the mean latency of each of 24 hours in ms.';

revoke execute on function uptuple.dashboard_history(text[]) from public;
grant execute on function uptuple.dashboard_history(text[]) to uptuple_worker, uptuple_operator, uptuple_viewer;
