-- Uptime of a service between two moments, always with its coverage (semantics 1.14).
--
-- Of the windows that were expected: how many have a verdict (coverage), and how many of those are up. Gaps count in neither direction.
-- Null where there is nothing to divide by. Reads service_active and result.
create or replace function uptuple.uptime(
  service text,
  since timestamptz default clock_timestamp() - interval '1 day',
  until timestamptz default clock_timestamp()
)
returns table (expected bigint, up bigint, down bigint, uptime numeric, coverage numeric)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select count(*),
    count(*) filter (where window_of_service.verdict in ('UP', 'DEGRADED')),
    count(*) filter (where window_of_service.verdict = 'DOWN'),
    round(
      count(*) filter (where window_of_service.verdict in ('UP', 'DEGRADED'))::numeric / nullif(count(window_of_service.verdict), 0), 6
    ),
    round(count(window_of_service.verdict)::numeric / nullif(count(*), 0), 6)
  from uptuple.windows($1, $2, $3) window_of_service
  where window_of_service.gap is distinct from 'PENDING';
$function$;

comment on function uptuple.uptime(text, timestamptz, timestamptz) is
  'Uptime and coverage of a service between two moments (default: the last day), as fractions of 1, with the numbers of windows they '
  'come from. Windows whose check is not finished are left out; other gaps lower the coverage and not the uptime.';

revoke execute on function uptuple.uptime(text, timestamptz, timestamptz) from public;
grant execute on function uptuple.uptime(text, timestamptz, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
