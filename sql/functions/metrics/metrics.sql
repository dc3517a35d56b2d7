-- All metrics as Prometheus or OpenMetrics text: what /metrics answers.
--
-- In the text format 0.0.4 a counter's family is named as its samples are; OpenMetrics 1.0 names it without the suffix, and ends with # EOF.
-- Families without samples are left out. Security definer, since its parts read tables. Reads only.
create or replace function uptuple.metrics(openmetrics boolean default false)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select coalesce(string_agg(
    format(E'# HELP %1$s %3$s\n# TYPE %1$s %2$s\n%4$s\n', shown.family, shown.type, shown.help, shown.lines), '' order by shown.turn
  ), '') || case when $1 then E'# EOF\n' else '' end
  from (
    select known.turn,
      known.family || case when known.type = 'counter' and not $1 then '_total' when known.type = 'info' and not $1 then '_info' else '' end as family,
      case when known.type = 'info' and not $1 then 'gauge' else known.type end as type,
      known.help,
      string_agg(
        sampled.sample || case when sampled.labels <> '' then '{' || sampled.labels || '}' else '' end || ' ' || sampled.value, E'\n'
        order by sampled.turn
      ) as lines
    from uptuple.metric_families() known
    join uptuple.metric_samples() with ordinality sampled (family, sample, labels, value, turn) on sampled.family = known.family
    group by known.turn, known.family, known.type, known.help
  ) shown;
$function$;

comment on function uptuple.metrics(boolean) is
  'All metrics as Prometheus text (0.0.4), or as OpenMetrics (1.0.0). What /metrics answers; metric_families() says what each means.';

revoke execute on function uptuple.metrics(boolean) from public;
grant execute on function uptuple.metrics(boolean) to uptuple_worker, uptuple_operator, uptuple_viewer;
