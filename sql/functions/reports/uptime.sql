-- Uptime of a service between two moments, always with its coverage.
--
-- Of the windows that were expected: how many have a verdict (coverage), and how many of those are up. Gaps count in neither direction.
-- Null where there is nothing to divide by. Counted by history, from roll-ups as far as there are any.
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
  select total.expected, total.up, total.down,
    round(total.up::numeric / nullif(total.up + total.down, 0), 6),
    round((total.up + total.down)::numeric / nullif(total.expected, 0), 6)
  from (
    select coalesce(sum(piece.expected), 0) as expected, coalesce(sum(piece.up), 0) as up, coalesce(sum(piece.down), 0) as down
    from uptuple.history(array[uptuple.watched_service($1)], $2, $3, false) piece
  ) total;
$function$;

comment on function uptuple.uptime(text, timestamptz, timestamptz) is
  'Uptime and coverage of a service between two moments (default: the last day), as fractions of 1, with the numbers of windows they '
  'come from. Windows whose check is not finished are left out; other gaps lower the coverage and not the uptime. Of a heartbeat each '
  'verdict and each gap is a window, as long as it lasted; time in which no runtime was at work is one gap. Where results have been '
  'dropped it begins with the first whole hour, where hours have, with the first whole day (UTC).';

revoke execute on function uptuple.uptime(text, timestamptz, timestamptz) from public;
grant execute on function uptuple.uptime(text, timestamptz, timestamptz) to uptuple_worker, uptuple_operator, uptuple_viewer;
