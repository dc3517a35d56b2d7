-- What metrics there are: in which order they are shown, of which type, and what they mean. Reads nothing.
--
-- Names as blackbox_exporter has them where it has them, so that its dashboards and rules work; base units, seconds and bytes. Counters
-- are written with _total, infos with _info.
create or replace function uptuple.metric_families()
returns table (turn integer, family text, type text, help text)
language sql
immutable
set search_path = pg_catalog, pg_temp
as $function$
  values
    (1, 'probe_success', 'gauge',
      'Whether the last check was UP or DEGRADED (1) or DOWN (0); absent if it was inconclusive or there was none.'),
    (2, 'probe_duration_seconds', 'gauge',
      'How long the last check took, from its start to the last byte that it needed.'),
    (3, 'probe_dns_lookup_time_seconds', 'gauge',
      'How long the last check took to resolve the name.'),
    (4, 'probe_http_duration_seconds', 'gauge',
      'How long each phase of the last HTTP check took.'),
    (5, 'probe_http_status_code', 'gauge',
      'The status of the last HTTP answer.'),
    (6, 'probe_ssl_earliest_cert_expiry', 'gauge',
      'When the certificate that a check saw last expires, as a Unix time.'),
    (7, 'uptuple_service_state', 'gauge',
      'The state of each service: 1 for the one it is in.'),
    (8, 'uptuple_service_failure_streak', 'gauge',
      'Failed checks in a row, up to the threshold.'),
    (9, 'uptuple_service_last_check_timestamp_seconds', 'gauge',
      'When the newest result of the service came in, as a Unix time.'),
    (10, 'uptuple_services', 'gauge',
      'How many services are watched, by state.'),
    (11, 'uptuple_incidents_open', 'gauge',
      'Incidents that are open.'),
    (12, 'uptuple_jobs', 'gauge',
      'Jobs by state: due and unclaimed, made ahead, running, or left behind by a runtime that is gone.'),
    (13, 'uptuple_jobs_longest_wait_seconds', 'gauge',
      'How long the oldest job that is due has waited.'),
    (14, 'uptuple_job_lateness_seconds', 'histogram',
      'How long after they were due checks were claimed.'),
    (15, 'uptuple_leases_expired', 'counter',
      'Leases that ended without an answer, and whose jobs another claim took over.'),
    (16, 'uptuple_completions', 'counter',
      'Completions that runtimes reported, by what they were answered.'),
    (17, 'uptuple_deliveries', 'gauge',
      'Notices by channel and state; dead ones wait for a person.'),
    (18, 'uptuple_delivery_oldest_age_seconds', 'gauge',
      'How long ago the oldest unsent notice of the channel was written, or let go by maintenance.'),
    (19, 'uptuple_delivery_attempts', 'counter',
      'Attempts to deliver a notice, by channel and what the answer meant.'),
    (20, 'uptuple_channel_open', 'gauge',
      'Whether the channel takes notices (1), or is disabled, paused or suspended (0).'),
    (21, 'uptuple_task_runs', 'counter',
      'Runs of scheduled tasks that ended, by task and outcome.'),
    (22, 'uptuple_task_enabled', 'gauge',
      'Whether the scheduled task is enabled (1) or not (0).'),
    (23, 'uptuple_workers', 'gauge',
      'Runtimes by state, of those not forgotten yet.'),
    (24, 'uptuple_worker_last_seen_timestamp_seconds', 'gauge',
      'When the runtime was last heard of, as a Unix time.'),
    (25, 'uptuple_roll_up_age_seconds', 'gauge',
      'How long ago the last hour that is rolled up ended.'),
    (26, 'uptuple_oldest_snapshot_age_seconds', 'gauge',
      'How long the oldest snapshot of this database has been held, which keeps dead rows from being cleaned up.'),
    (27, 'uptuple_partition_bytes', 'gauge',
      'Size of the daily partitions, by what they hold.'),
    (28, 'uptuple_release', 'info',
      'The release of the schema, as a label.'),
    (29, 'uptuple_service_in_maintenance', 'gauge',
      'Whether the service is in maintenance (1) or not (0).')
$function$;

comment on function uptuple.metric_families() is 'The metrics there are: type and meaning of each. select * from uptuple.metric_families();';

revoke execute on function uptuple.metric_families() from public;
grant execute on function uptuple.metric_families() to uptuple_worker, uptuple_operator, uptuple_viewer;
