-- What a badge of a service says: label, message, and one of the colours of shields.io. Always one row.
--
-- kind: status, uptime (over 24h, 7d, 30d or 90d) or latency (mean and likewise). A service that is not there, and with only_public one that no status
-- page shows, is "unknown" in grey, both alike, so that badges do not tell what exists. Numbers are written the same everywhere. Reads only.
create or replace function uptuple.badge(
  service text,
  kind text default 'status',
  stretch text default '24h',
  only_public boolean default false
)
returns table (label text, message text, color text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  span constant interval := case stretch when '24h' then interval '1 day' when '7d' then interval '7 days' when '30d' then interval '30 days'
    when '90d' then interval '90 days' end;
  watched text;
  status text;
  fraction numeric;
  mean_ms numeric;
begin
  label := case kind when 'status' then 'status' when 'uptime' then 'uptime ' || stretch when 'latency' then 'latency ' || stretch end;
  if label is null then
    raise exception 'kind is %, stretch is %, and there is no such badge', coalesce(quote_literal(kind), 'null'), coalesce(quote_literal(stretch), 'null')
      using errcode = 'invalid_parameter_value', hint = 'kind is status, uptime or latency; stretch is 24h, 7d, 30d or 90d.';
  elsif span is null then
    raise exception 'stretch is %', coalesce(quote_literal(stretch), 'null')
      using errcode = 'invalid_parameter_value', hint = 'Use 24h, 7d, 30d or 90d.';
  end if;
  message := 'unknown';
  color := 'lightgrey';

  select shown.service, shown.status into watched, status
  from uptuple.status shown
  where shown.service = service
    and (not only_public or exists (select from uptuple.public_services open where open.service = shown.service));
  if watched is null then
    return next;
    return;
  end if;

  if kind = 'status' then
    message := lower(status);
    color := case status when 'UP' then 'brightgreen' when 'DEGRADED' then 'yellow' when 'DOWN' then 'red' else 'lightgrey' end;
  elsif kind = 'uptime' then
    select past.uptime into fraction from uptuple.uptime(watched, clock_timestamp() - span) past;
    if fraction is not null then
      -- Cut and not rounded: 100 % is said only of what never failed.
      message := trim_scale(trunc(100 * fraction, 2)) || '%';
      color := case
        when fraction >= 0.999 then 'brightgreen' when fraction >= 0.99 then 'green' when fraction >= 0.97 then 'yellowgreen'
        when fraction >= 0.95 then 'yellow' when fraction >= 0.9 then 'orange' else 'red'
      end;
    end if;
  else
    select past.mean::numeric into mean_ms from uptuple.percentiles(watched, clock_timestamp() - span) past;
    if mean_ms is not null then
      message := case when mean_ms < 1000 then greatest(round(mean_ms), 1) || ' ms' else round(mean_ms / 1000, 1) || ' s' end;
      color := case
        when mean_ms < 200 then 'brightgreen' when mean_ms < 500 then 'green' when mean_ms < 1000 then 'yellowgreen'
        when mean_ms < 2000 then 'yellow' when mean_ms < 5000 then 'orange' else 'red'
      end;
    end if;
  end if;
  return next;
end
$function$;

comment on function uptuple.badge(text, text, text, boolean) is
  'What a badge says: kind is status, uptime or latency; stretch 24h, 7d, 30d or 90d. A service that is not there, or with only_public on no '
  'status page, is unknown in lightgrey.';

revoke execute on function uptuple.badge(text, text, text, boolean) from public;
grant execute on function uptuple.badge(text, text, text, boolean) to uptuple_worker, uptuple_operator, uptuple_viewer;
