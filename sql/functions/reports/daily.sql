-- The last days (UTC) of a service, today included, one row each, oldest first: what bars and charts are drawn from.
--
-- Windows are counted as uptime counts them, latencies as percentiles does; a day in which nothing was expected, or of which nothing is kept,
-- has nulls and zeros and is neither up nor down. down_seconds is the time in incidents outside of maintenance, as downtime
-- has it.
create or replace function uptuple.daily(service text, days integer default 90)
returns table (
  day date,
  expected bigint,
  up bigint,
  down bigint,
  gaps bigint,
  uptime numeric,
  coverage numeric,
  p50 real,
  p95 real,
  down_seconds double precision
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  wanted constant bigint := uptuple.watched_service(service);
  at constant timestamptz := clock_timestamp();
  today constant date := (at at time zone 'UTC')::date;
begin
  if (days between 1 and 3660) is not true then
    raise exception 'days is %, and must be between 1 and 3660', coalesce(days::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'Today is the last one.';
  end if;

  return query
  with piece as materialized (
    select (history.starts_at at time zone 'UTC')::date as day, history.*
    from uptuple.history(array[wanted], (today - days + 1)::timestamp at time zone 'UTC', at, true) history
  ),
  counted as (
    select piece.day, sum(piece.expected) as expected, sum(piece.up) as up, sum(piece.down) as down
    from piece
    group by piece.day
  ),
  ranked as (
    select piece.day, bucket.number,
      sum(sum(bucket.windows)) over (partition by piece.day order by bucket.number) as up_to,
      sum(sum(bucket.windows)) over (partition by piece.day) as of_all
    from piece
    cross join lateral unnest(piece.latency_buckets, piece.latency_counts) bucket (number, windows)
    group by piece.day, bucket.number
  ),
  latency as (
    select ranked.day,
      min(ranked.number) filter (where ranked.up_to >= 0.50 * ranked.of_all) as p50,
      min(ranked.number) filter (where ranked.up_to >= 0.95 * ranked.of_all) as p95
    from ranked
    group by ranked.day
  ),
  outage as (
    select touched.day::date as day, sum(extract(epoch from upper(part) - lower(part))) as seconds
    from (select uptuple.maintenance_between(wanted, (today - days + 1)::timestamp at time zone 'UTC', at) as spans offset 0) maintained
    cross join uptuple.incident
    cross join lateral (
      select greatest(incident.started_at, (today - days + 1)::timestamp at time zone 'UTC') as since, coalesce(incident.closed_at, at) as until
    ) span
    cross join lateral generate_series(
      date_trunc('day', span.since at time zone 'UTC'), span.until at time zone 'UTC', interval '1 day'
    ) touched (day)
    cross join lateral (
      select tstzrange(span.since, span.until) * tstzrange(touched.day at time zone 'UTC', (touched.day + interval '1 day') at time zone 'UTC')
        as of_day
    ) outage
    cross join lateral unnest(tstzmultirange(outage.of_day) - maintained.spans) part
    where incident.service_id = wanted and span.since < span.until
    group by touched.day
  )
  select calendar.day::date, total.expected, total.up, total.down, total.expected - total.up - total.down,
    round(total.up::numeric / nullif(total.up + total.down, 0), 6),
    round((total.up + total.down)::numeric / nullif(total.expected, 0), 6),
    uptuple.bucket_ms(latency.p50), uptuple.bucket_ms(latency.p95), coalesce(outage.seconds, 0)::double precision
  from generate_series((today - days + 1)::timestamp, today::timestamp, interval '1 day') calendar (day)
  left join counted on counted.day = calendar.day::date
  left join latency on latency.day = calendar.day::date
  left join outage on outage.day = calendar.day::date
  cross join lateral (
    select coalesce(counted.expected, 0) as expected, coalesce(counted.up, 0) as up, coalesce(counted.down, 0) as down
  ) total
  order by calendar.day;
end
$function$;

comment on function uptuple.daily(text, integer) is
  'The last days (UTC, default 90, today included) of a service, oldest first: windows, uptime and coverage as fractions of 1, latency in ms '
  '(within 5 %), seconds in incidents.';

revoke execute on function uptuple.daily(text, integer) from public;
grant execute on function uptuple.daily(text, integer) to uptuple_worker, uptuple_operator, uptuple_viewer;
