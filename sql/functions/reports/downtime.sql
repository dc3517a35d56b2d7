-- How long a service was down between two moments, by its incidents: each from its first failed check to its recovery.
--
-- An incident that is open counts up to now. What an incident has outside of the two moments, or while the service is in maintenance,
-- does not count. Reads incident.
create or replace function uptuple.downtime(
  service text,
  since timestamptz default clock_timestamp() - interval '1 day',
  until timestamptz default clock_timestamp()
)
returns table (incidents bigint, down_for interval)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select count(distinct incident.id), coalesce(sum(upper(part) - lower(part)), interval '0')
  from (select uptuple.watched_service($1) as id) watched
  cross join lateral (select uptuple.maintenance_between(watched.id, $2, $3) as spans offset 0) maintained
  join uptuple.incident on incident.service_id = watched.id
  cross join lateral (
    select greatest(incident.started_at, $2) as since, least(coalesce(incident.closed_at, clock_timestamp()), $3) as until
  ) whole
  cross join lateral unnest(tstzmultirange(tstzrange(whole.since, greatest(whole.since, whole.until))) - maintained.spans) part;
$function$;

comment on function uptuple.downtime(text, timestamptz, timestamptz) is
  'How many incidents of a service touch the time between two moments (default: the last day), and how long it was down in it, '
  'maintenance left out.';

revoke execute on function uptuple.downtime(text, timestamptz, timestamptz) from public;
grant execute on function uptuple.downtime(text, timestamptz, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
