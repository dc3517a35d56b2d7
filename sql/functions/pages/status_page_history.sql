-- The last 90 days (UTC) of what a status page shows: for each component its uptime and coverage, over all and by day.
--
-- {component id: {uptime, coverage, days_ago, day_expected, day_up, day_down}}: fractions of 1, and for each day in which something was expected
-- how many days ago it was and its windows. From the roll-ups. Reads only.
create or replace function uptuple.status_page_history(slug text default 'default')
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  today constant date := (at at time zone 'UTC')::date;
begin
  return (
    select coalesce(jsonb_object_agg(
      md5(format('component %s %s', chosen.page_id, chosen.service_id))::uuid,
      jsonb_build_object(
        'uptime', past.uptime, 'coverage', past.coverage,
        'days_ago', past.days_ago, 'day_expected', past.day_expected, 'day_up', past.day_up, 'day_down', past.day_down
      )
    ), '{}')
    from uptuple.public_services chosen
    join (
      select day.service_id,
        round(sum(day.up)::numeric / nullif(sum(day.up + day.down), 0), 6) as uptime,
        round(sum(day.up + day.down)::numeric / sum(day.expected), 6) as coverage,
        array_agg(today - day.day order by day.day) as days_ago,
        array_agg(day.expected order by day.day) as day_expected,
        array_agg(day.up order by day.day) as day_up,
        array_agg(day.down order by day.day) as day_down
      from (
        select piece.service_id, (piece.starts_at at time zone 'UTC')::date as day,
          sum(piece.expected) as expected, sum(piece.up) as up, sum(piece.down) as down
        from uptuple.history(
          array(select shown.service_id from uptuple.public_services shown where shown.slug = slug),
          (today - 89)::timestamp at time zone 'UTC', at, false
        ) piece
        group by piece.service_id, (piece.starts_at at time zone 'UTC')::date
        having sum(piece.expected) > 0
      ) day
      group by day.service_id
    ) past on past.service_id = chosen.service_id
    where chosen.slug = slug
  );
end
$function$;

comment on function uptuple.status_page_history(text) is
  'The last 90 days of what a status page shows, by component: uptime and coverage over all, and the windows of each day.';

revoke execute on function uptuple.status_page_history(text) from public;
grant execute on function uptuple.status_page_history(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
