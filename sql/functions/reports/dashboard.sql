-- Everything that the dashboard shows of the present: services, open incidents, what is wrong with the monitor, runtimes, channels.
--
-- One statement and so one snapshot: a service is never shown down without its incident. What it shows of the past is in
-- dashboard_history, which takes longer and changes slowly. Reads the views; called for each look at the dashboard, once for all who look
-- at the same moment.
create or replace function uptuple.dashboard()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select jsonb_build_object(
    'now', clock_timestamp(),
    'mark', uptuple.dashboard_mark(),
    'services', (
      select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
      from (
        select status.service, status.group_name, status.tags, status.region, status.status, status.since, status.checked_at,
          status.checked_status, status.latency_ms, status.reason, status.recent, status.failure_streak, status.failure_threshold, status.url,
          status.maintenance_until, status.maintenance_title
        from uptuple.status
      ) shown
    ),
    'incidents', (
      select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
      from (
        select incidents.incident_id, incidents.service, incidents.region, incidents.started_at, incidents.reason, incidents.delivered,
          incidents.unsent, incidents.dead
        from uptuple.incidents
        where incidents.closed_at is null
      ) shown
    ),
    'problems', (
      select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
      from (select problems.severity, problems.problem, problems.cure from uptuple.problems) shown
    ),
    'workers', (
      select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
      from (
        select workers.worker, workers.state, workers.region, workers.roles, workers.release, workers.started_at, workers.seen_at,
          workers.quarantined_at, workers.quarantine_reason
        from uptuple.workers
        where workers.state <> 'STOPPED'
      ) shown
    ),
    'channels', (
      select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
      from (
        select channel.name, channel.kind, channel.state, channel.suspended_reason, channel.paused_until,
          channel.ready + channel.waiting + channel.held + channel.sending as unsent, channel.dead, channel.last_success_at
        from uptuple.channels_health channel
      ) shown
    )
  );
$function$;

comment on function uptuple.dashboard() is
  'What the dashboard shows of the present, in one snapshot: now, mark, services, incidents (open ones), problems, workers, channels.';

revoke execute on function uptuple.dashboard() from public;
grant execute on function uptuple.dashboard() to uptuple_worker, uptuple_operator, uptuple_viewer;
