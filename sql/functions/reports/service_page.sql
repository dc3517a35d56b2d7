-- Everything that the page of one service shows of the present and of its changes; null if no service has that name.
--
-- One snapshot. The last 50 checks, the last 20 incidents each with its notices and their attempts, the last 20 revisions with a view of
-- what is configured that holds no secret: userinfo is masked in URLs, header values and bodies are told apart by a digest only, since
-- somebody may have written a password in the clear. The past is in dashboard_history and latency_series. Reads service and its
-- satellites, result and job by the key of the window, incident, event, delivery and delivery_attempt by their parents' keys.
create or replace function uptuple.service_page(service text)
returns jsonb
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
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  now_second constant bigint := extract(epoch from at);
  watched uptuple.service;
  checks jsonb;
begin
  select * into watched from uptuple.service known where known.name = service and known.removed_at is null;
  if watched.id is null then
    return null;
  end if;

  select coalesce(jsonb_agg(to_jsonb(shown) order by shown.recorded_at desc, shown.scheduled_slot desc), '[]') into checks
  from (
    select found.*
    from unnest(watched.regions) region (name)
    cross join lateral (
      (
        select result.scheduled_slot, result.recorded_at, result.region, result.purpose, result.status, result.code, result.reason,
          result.latency_ms, result.dns_ms, result.connect_ms, result.tls_ms, result.first_byte_ms, result.http_status, result.worker, result.detail
        from uptuple.result
        where result.service_id = watched.id and result.region = region.name and result.purpose <> 'MANUAL'
        order by result.scheduled_slot desc
        limit 50
      )
      union all
      (
        select result.scheduled_slot, result.recorded_at, result.region, result.purpose, result.status, result.code, result.reason,
          result.latency_ms, result.dns_ms, result.connect_ms, result.tls_ms, result.first_byte_ms, result.http_status, result.worker, result.detail
        from uptuple.result
        where result.service_id = watched.id and result.region = region.name and result.purpose = 'MANUAL'
        order by result.scheduled_slot desc
        limit 50
      )
    ) found
    order by found.recorded_at desc, found.scheduled_slot desc
    limit 50
  ) shown;

  return jsonb_build_object(
    'now', at,
    'service', watched.name,
    'group_name', watched.group_name,
    'tags', watched.tags,
    'enabled', watched.enabled,
    'probed', watched.probed,
    'interval_seconds', watched.interval_seconds,
    'failure_threshold', watched.failure_threshold,
    'recovery_threshold', watched.recovery_threshold,
    'created_at', watched.created_at,
    'states', (
      select jsonb_agg(to_jsonb(shown))
      from (
        select status.service, status.group_name, status.tags, status.region, status.status, status.since, status.checked_at,
          status.checked_status, status.latency_ms, status.reason, status.recent, status.failure_streak, status.failure_threshold, status.url,
          status.maintenance_until, status.maintenance_title
        from uptuple.status
        where status.service = watched.name
      ) shown
    ),
    'next_check_at', (
      select min(planned.due_at)
      from (
        -- In this moment's window, or sooner than the grid has it, after a failure or because somebody asked.
        select job.due_at
        from unnest(watched.regions) region (name)
        join uptuple.job on job.service_id = watched.id and job.region = region.name
        where job.scheduled_slot >= now_second - watched.interval_seconds - 60 and job.state = 'READY'
        union all
        select to_timestamp(
          greatest(
            watched.first_slot,
            (now_second - watched.phase_seconds) / watched.interval_seconds * watched.interval_seconds + watched.interval_seconds + watched.phase_seconds
          ) + watched.phase_ms / 1000.0
        )
        where watched.probed
        union all
        -- Nobody probes it: until when it has to report by itself.
        select heartbeat.expected_at from uptuple.heartbeat where heartbeat.service_id = watched.id
      ) planned
      where watched.enabled
    ),
    'checks', checks,
    'medians', (
      select jsonb_build_object(
        'checks', count(*),
        'dns_ms', percentile_disc(0.5) within group (order by made.dns_ms),
        'connect_ms', percentile_disc(0.5) within group (order by made.connect_ms),
        'tls_ms', percentile_disc(0.5) within group (order by made.tls_ms),
        'first_byte_ms', percentile_disc(0.5) within group (order by made.first_byte_ms),
        'latency_ms', percentile_disc(0.5) within group (order by made.latency_ms)
      )
      from jsonb_to_recordset(checks) as made (status text, dns_ms real, connect_ms real, tls_ms real, first_byte_ms real, latency_ms real)
      where made.status in ('UP', 'DEGRADED')
    ),
    'incidents', (
      select coalesce(jsonb_agg(to_jsonb(shown) order by shown.opened_at desc, shown.incident_id desc), '[]')
      from (
        select incident.id as incident_id, incident.region, incident.started_at, incident.opened_at, incident.closed_at, incident.closed_by,
          incident.code, incident.reason, told.notices
        from (
          select * from uptuple.incident
          where incident.service_id = watched.id
          order by incident.opened_at desc, incident.id desc
          limit 20
        ) incident
        cross join lateral (select uptuple.incident_notices(incident.id) as notices) told
      ) shown
    ),
    'revisions', (
      select jsonb_agg(to_jsonb(shown) order by shown.revision desc)
      from (
        select revised.revision, revised.kind, uptuple.shown_url(uptuple.readable_url(revised.target)) as target,
          -- Whether two are equal, without what they are.
          left(encode(sha256(convert_to(revised.target, 'UTF8')), 'hex'), 16) as target_digest,
          revised.timeout_ms, revised.created_at, revised.created_by, configured.settings, configured.digests
        from uptuple.service_revision revised
        cross join lateral (
          select coalesce(jsonb_object_agg(entry.key, entry.value) filter (where entry.key in (
                'method', 'expected_statuses', 'follow_redirects', 'insecure', 'ip_family', 'record_type', 'resolver', 'expect'
              )), '{}') as settings,
            coalesce(jsonb_object_agg(entry.key, left(encode(sha256(convert_to(entry.value::text, 'UTF8')), 'hex'), 16)), '{}') as digests
          from jsonb_each(revised.config) entry
          where entry.key not in ('read_body', 'want_headers')
        ) configured
        where revised.service_id = watched.id
        order by revised.revision desc
        limit 20
      ) shown
    ),
    'maintenance', (
      select coalesce(jsonb_agg(to_jsonb(shown) order by shown.starts_at), '[]')
      from (
        select calendar.uid, calendar.title, calendar.state, calendar.starts_at, calendar.ends_at
        from uptuple.maintenance_calendar calendar
        where calendar.state <> 'cancelled' and calendar.ends_at > at - interval '7 days' and watched.name = any (calendar.services)
        order by calendar.starts_at
        limit 20
      ) shown
    ),
    'certificate', (
      select jsonb_build_object(
        'not_after', seen.not_after, 'subject', seen.subject, 'issuer', seen.issuer, 'names', seen.names, 'first_seen_at', seen.first_seen_at
      )
      from uptuple.service_certificate seen
      where seen.service_id = watched.id and seen.revision = watched.revision
      order by seen.not_after
      limit 1
    )
  );
end
$function$;

comment on function uptuple.service_page(text) is
  'What the page of one service shows: its state, next check, last 50 checks with their medians, incidents with notices and attempts, '
  'revisions without secrets, maintenance from a week ago on, and of the certificates last seen the one that ends first. Null if no service has that name.';

revoke execute on function uptuple.service_page(text) from public;
grant execute on function uptuple.service_page(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
