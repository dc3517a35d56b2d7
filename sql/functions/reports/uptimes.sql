-- uptime of every service between two moments at once: one pass instead of a call for each.
create or replace function uptuple.uptimes(
  since timestamptz default clock_timestamp() - interval '1 day',
  until timestamptz default clock_timestamp()
)
returns table (service text, expected bigint, up bigint, down bigint, uptime numeric, coverage numeric)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select watched.name, total.expected, total.up, total.down,
    round(total.up::numeric / nullif(total.up + total.down, 0), 6),
    round((total.up + total.down)::numeric / nullif(total.expected, 0), 6)
  from (
    select piece.service_id, sum(piece.expected) as expected, sum(piece.up) as up, sum(piece.down) as down
    from uptuple.history(array(select service.id from uptuple.service where service.removed_at is null), $1, $2, false) piece
    group by piece.service_id
  ) counted
  right join uptuple.service watched on watched.id = counted.service_id
  cross join lateral (
    select coalesce(counted.expected, 0) as expected, coalesce(counted.up, 0) as up, coalesce(counted.down, 0) as down
  ) total
  where watched.removed_at is null;
$function$;

comment on function uptuple.uptimes(timestamptz, timestamptz) is
  'Uptime and coverage of every service between two moments (default: the last day), as uptime() counts them.';

revoke execute on function uptuple.uptimes(timestamptz, timestamptz) from public;
grant execute on function uptuple.uptimes(timestamptz, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
