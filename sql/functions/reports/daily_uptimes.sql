-- The last days (UTC) of every service, today included: the bars of an overview, without what takes long.
--
-- As daily counts them, in one pass; days in which nothing of a service was expected have no row.
create or replace function uptuple.daily_uptimes(days integer default 90)
returns table (service text, day date, expected bigint, up bigint, down bigint, uptime numeric, coverage numeric)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  today constant date := (at at time zone 'UTC')::date;
begin
  if (days between 1 and 3660) is not true then
    raise exception 'days is %, and must be between 1 and 3660', coalesce(days::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'Today is the last one.';
  end if;

  return query
  select watched.name, total.day, total.expected, total.up, total.down,
    round(total.up::numeric / nullif(total.up + total.down, 0), 6),
    round((total.up + total.down)::numeric / nullif(total.expected, 0), 6)
  from (
    select piece.service_id, (piece.starts_at at time zone 'UTC')::date as day,
      sum(piece.expected) as expected, sum(piece.up) as up, sum(piece.down) as down
    from uptuple.history(
      array(select service.id from uptuple.service where service.removed_at is null), (today - days + 1)::timestamp at time zone 'UTC', at, false
    ) piece
    group by piece.service_id, (piece.starts_at at time zone 'UTC')::date
  ) total
  join uptuple.service watched on watched.id = total.service_id
  where total.expected > 0
  order by watched.name, total.day;
end
$function$;

comment on function uptuple.daily_uptimes(integer) is
  'The last days (UTC, default 90, today included) of every service: windows, and uptime and coverage as fractions of 1.';

revoke execute on function uptuple.daily_uptimes(integer) from public;
grant execute on function uptuple.daily_uptimes(integer) to uptuple_worker, uptuple_operator, uptuple_viewer;
