-- A number that changes when anything changes that a viewer should see at once: a status, a failure streak, an incident, a service that
-- came, went, was paused, renamed or moved to another group, a
-- maintenance that begins or ends.
--
-- Not the latency and the time of each check, which change all the time. Silence that turns a service UNKNOWN changes no row, so the
-- status itself is looked at and no trigger would do. A runtime asks once a second while anybody looks, whatever their number:
-- 3 ms for 1,000 services. Sums of 64-bit hashes of rows: that two different states give one number is as likely as a broken disk.
create or replace function uptuple.dashboard_mark()
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select coalesce(sum(hash_record_extended(
    row(
      status.service, status.group_name, status.region, status.status, status.since, status.failure_streak, status.recent,
      case when status.status <> 'UP' or status.checked_status <> 'UP' then status.reason end, status.checked_status, status.incident_id,
      status.revision, status.maintenance_until
    ),
    0
  )), 0)::text
  from uptuple.status;
$function$;

comment on function uptuple.dashboard_mark() is 'Changes when a viewer of the dashboard should see something new at once, and not with each check.';

revoke execute on function uptuple.dashboard_mark() from public;
grant execute on function uptuple.dashboard_mark() to uptuple_worker, uptuple_operator, uptuple_viewer;
