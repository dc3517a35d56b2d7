-- All samples of all metrics at this moment: of which family, name and labels as they are written, and the value.
--
-- The last result of each service is looked up in the partitions of the last two days, by the key of its window. One statement and so one
-- snapshot: a scrape never disagrees with itself. Called by metrics. Reads nearly everything, writes nothing.
create or replace function uptuple.metric_samples()
returns table (family text, sample text, labels text, value double precision)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  now_second constant bigint := floor(extract(epoch from at));
begin
  return query
  with watched as materialized (
    select concat_ws(',',
        uptuple.metric_label('service', shown.service),
        uptuple.metric_label('group', shown.group_name),
        uptuple.metric_label('region', shown.region)
      ) as labels,
      shown.status, shown.failure_streak, shown.checked_at, shown.maintenance_until, certificate.not_after as certificate_ends, last.*
    from uptuple.status shown
    join uptuple.service on service.name = shown.service and service.removed_at is null
    left join lateral (
      select case when result.status in ('UP', 'DEGRADED') then 1 when result.status = 'DOWN' then 0 end as success,
        result.latency_ms, result.dns_ms, result.connect_ms, result.tls_ms, result.first_byte_ms, result.http_status
      from uptuple.result
      where result.service_id = service.id
        and result.region = shown.region
        and result.scheduled_slot between now_second - 2 * 86400 and now_second + 60
        and result.purpose <> 'MANUAL'
      order by result.scheduled_slot desc
      limit 1
    ) last on true
    -- What was seen last, even if the last check saw none: a certificate does not get better while the service is down.
    left join uptuple.service_certificate certificate
      on certificate.service_id = service.id and certificate.region = shown.region and certificate.revision = service.revision
  ),
  lateness as (
    select region.name as region, bucket, coalesce(counter.value, 0) as claims,
      -- As a float, which OpenMetrics asks of le: 1.0 and not 1.
      coalesce(regexp_replace((uptuple.lateness_bounds())[bucket]::text, '^\d+$', '\&.0'), '+Inf') as bound
    from uptuple.region
    cross join generate_series(1, cardinality(uptuple.lateness_bounds()) + 1) bucket
    left join uptuple.counter
      on counter.name = 'job_lateness' and counter.labels = jsonb_build_object('region', region.name, 'bucket', bucket)
  )
  select measured.family, measured.family, concat_ws(',', watched.labels, measured.more), measured.value
  from watched
  cross join lateral (
    values
      ('probe_success', null, watched.success::double precision),
      ('probe_duration_seconds', null, watched.latency_ms / 1000.0),
      ('probe_dns_lookup_time_seconds', null, watched.dns_ms / 1000.0),
      ('probe_http_duration_seconds', 'phase="resolve"', case when watched.http_status is not null then watched.dns_ms / 1000.0 end),
      ('probe_http_duration_seconds', 'phase="connect"', case when watched.http_status is not null then watched.connect_ms / 1000.0 end),
      ('probe_http_duration_seconds', 'phase="tls"', case when watched.http_status is not null then watched.tls_ms / 1000.0 end),
      ('probe_http_duration_seconds', 'phase="processing"', case when watched.http_status is not null then watched.first_byte_ms / 1000.0 end),
      (
        'probe_http_duration_seconds', 'phase="transfer"',
        case when watched.http_status is not null and watched.first_byte_ms is not null then greatest(
          watched.latency_ms - coalesce(watched.dns_ms, 0) - coalesce(watched.connect_ms, 0) - coalesce(watched.tls_ms, 0) - watched.first_byte_ms, 0
        ) / 1000.0 end
      ),
      ('probe_http_status_code', null, watched.http_status),
      ('probe_ssl_earliest_cert_expiry', null, extract(epoch from watched.certificate_ends)::double precision),
      ('uptuple_service_failure_streak', null, watched.failure_streak),
      ('uptuple_service_last_check_timestamp_seconds', null, round(extract(epoch from watched.checked_at), 3)::double precision),
      ('uptuple_service_in_maintenance', null, (watched.maintenance_until is not null)::integer)
  ) measured (family, more, value)
  where measured.value is not null

  union all
  select 'uptuple_service_state', 'uptuple_service_state', concat_ws(',', watched.labels, uptuple.metric_label('state', state)),
    (watched.status = state)::integer
  from watched
  cross join unnest('{UP,DEGRADED,DOWN,UNKNOWN,PAUSED}'::text[]) state

  union all
  select 'uptuple_services', 'uptuple_services', uptuple.metric_label('state', state), (select count(*) from watched where watched.status = state)
  from unnest('{UP,DEGRADED,DOWN,UNKNOWN,PAUSED}'::text[]) state

  union all
  select 'uptuple_incidents_open', 'uptuple_incidents_open', null, count(*) from uptuple.incident where incident.closed_at is null

  union all
  select measured.family, measured.family, concat_ws(',', uptuple.metric_label('region', backlog.region), measured.more), measured.value
  from uptuple.jobs_backlog backlog
  cross join lateral (
    values
      ('uptuple_jobs', 'state="due"', backlog.due::double precision),
      ('uptuple_jobs', 'state="ahead"', backlog.ahead),
      ('uptuple_jobs', 'state="running"', backlog.running),
      ('uptuple_jobs', 'state="abandoned"', backlog.leases_ended),
      ('uptuple_jobs_longest_wait_seconds', null, extract(epoch from backlog.longest_wait))
  ) measured (family, more, value)

  union all
  select 'uptuple_job_lateness_seconds', 'uptuple_job_lateness_seconds_bucket',
    concat_ws(',', uptuple.metric_label('region', lateness.region), uptuple.metric_label('le', lateness.bound)),
    sum(lateness.claims) over (partition by lateness.region order by lateness.bucket)
  from lateness
  union all
  select 'uptuple_job_lateness_seconds', 'uptuple_job_lateness_seconds_sum', uptuple.metric_label('region', region.name), coalesce(counter.value, 0)
  from uptuple.region
  left join uptuple.counter on counter.name = 'job_lateness_seconds' and counter.labels = jsonb_build_object('region', region.name)
  union all
  select 'uptuple_job_lateness_seconds', 'uptuple_job_lateness_seconds_count', uptuple.metric_label('region', lateness.region), sum(lateness.claims)
  from lateness
  group by lateness.region

  union all
  select total.family, total.family || '_total', pairs.labels, counter.value
  from (
    values
      ('uptuple_leases_expired', 'leases_expired'),
      ('uptuple_completions', 'completions'),
      ('uptuple_delivery_attempts', 'delivery_attempts'),
      ('uptuple_task_runs', 'task_runs')
  ) total (family, name)
  join uptuple.counter on counter.name = total.name
  cross join lateral (
    select string_agg(uptuple.metric_label(pair.key, pair.value), ',' order by pair.key) as labels from jsonb_each_text(counter.labels) pair
  ) pairs

  union all
  select measured.family, measured.family, concat_ws(',', uptuple.metric_label('channel', health.name), measured.more), measured.value
  from uptuple.channels_health health
  left join lateral (
    -- What waits for the end of maintenance is as old as the wait that follows.
    select min(greatest(event.created_at, delivery.held_until)) as written_at
    from uptuple.channel
    join uptuple.delivery on delivery.channel_id = channel.id and delivery.state in ('READY', 'WAITING', 'HELD', 'SENDING')
    join uptuple.event on event.id = delivery.event_number
    where channel.name = health.name and channel.removed_at is null
  ) oldest on true
  cross join lateral (
    values
      ('uptuple_deliveries', 'state="ready"', health.ready::double precision),
      ('uptuple_deliveries', 'state="waiting"', health.waiting),
      ('uptuple_deliveries', 'state="held"', health.held),
      ('uptuple_deliveries', 'state="sending"', health.sending),
      ('uptuple_deliveries', 'state="dead"', health.dead),
      ('uptuple_delivery_oldest_age_seconds', null, coalesce(greatest(extract(epoch from at - oldest.written_at), 0), 0)),
      ('uptuple_channel_open', null, (health.state = 'OPEN')::integer)
  ) measured (family, more, value)

  union all
  select 'uptuple_task_enabled', 'uptuple_task_enabled', uptuple.metric_label('task', task.name), (task.enabled and task.paused_at is null)::integer
  from uptuple.tasks task

  union all
  select 'uptuple_workers', 'uptuple_workers', uptuple.metric_label('state', state), (select count(*) from uptuple.workers where workers.state = given.state)
  from unnest('{ALIVE,LOST,STOPPED}'::text[]) given (state)
  union all
  select 'uptuple_worker_last_seen_timestamp_seconds', 'uptuple_worker_last_seen_timestamp_seconds',
    concat_ws(',', uptuple.metric_label('worker', worker.name), uptuple.metric_label('region', worker.region)),
    round(extract(epoch from worker.seen_at), 3)
  from uptuple.worker
  where worker.stopped_at is null

  union all
  select 'uptuple_roll_up_age_seconds', 'uptuple_roll_up_age_seconds', null, greatest(now_second - mark.rolled_until, 0)
  from uptuple.roll_up_mark mark
  union all
  select 'uptuple_oldest_snapshot_age_seconds', 'uptuple_oldest_snapshot_age_seconds', null,
    coalesce((select max(extract(epoch from snapshot.age)) from uptuple.oldest_snapshot() snapshot), 0)
  union all
  select 'uptuple_partition_bytes', 'uptuple_partition_bytes', uptuple.metric_label('kind', upkeep.kind), coalesce(upkeep.bytes, 0)
  from uptuple.maintenance upkeep
  union all
  select 'uptuple_release', 'uptuple_release_info', uptuple.metric_label('release', installation.release::text), 1
  from uptuple.installation;
end
$function$;

comment on function uptuple.metric_samples() is 'All samples of all metrics at this moment: family, name and labels as they are written, value.';

revoke execute on function uptuple.metric_samples() from public;
