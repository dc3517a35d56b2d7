-- Announce maintenance: checks go on and are stored, but its services' notices wait for its end, and failures in it open no incident.
--
-- What is covered is asked when it matters, so that services that are added to a group, or get a tag, are covered from then on. One that has
-- begun already also corrects reports of the past, as far back as there are results. Race, an incident opens at the same moment: its
-- FAILED is sent, as if it had been a moment earlier. Writes maintenance_window, maintenance_scope, maintenance_occurrence, delivery
-- and unfinished_hour.
create or replace function uptuple.plan_maintenance(
  title text default 'Maintenance',
  services text[] default '{}',
  groups text[] default '{}',
  tags text[] default '{}',
  everything boolean default false,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  duration interval default null,
  day date default null,
  weekdays text[] default null,
  from_time time default null,
  until_time time default null,
  cron text default null,
  time_zone text default 'UTC',
  description text default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  chosen constant uptuple.maintenance_scope := uptuple.maintenance_selection(services, groups, tags, everything);
  planned constant uptuple.maintenance_window :=
    uptuple.maintenance_schedule(at, starts_at, ends_at, duration, day, weekdays, from_time, until_time, cron, time_zone);
  results_from constant timestamptz := (select gone_before from uptuple.retention where kind = 'results');
  new_id bigint;
begin
  perform uptuple.check_name('title', title);
  description := uptuple.printable(nullif(btrim(description), ''), 10000);
  if planned.starts_at < results_from then
    raise exception 'the maintenance would start at %, and there are results from % on', planned.starts_at, results_from
      using errcode = 'UT002', hint = 'What was reported of the time before cannot be counted anew. Nothing was changed.';
  end if;

  perform uptuple.lock_maintenance();
  insert into uptuple.maintenance_window (
    title, description, recurrence, starts_at, ends_at, weekdays, from_time, until_time, cron, duration, time_zone, made_until
  )
  values (
    title, description, planned.recurrence, planned.starts_at, planned.ends_at, planned.weekdays, planned.from_time, planned.until_time,
    planned.cron, planned.duration, planned.time_zone, at
  )
  returning maintenance_window.id into new_id;
  insert into uptuple.maintenance_scope (window_id, everything, service_ids, groups, tags)
  values (new_id, chosen.everything, chosen.service_ids, chosen.groups, chosen.tags);

  if planned.recurrence = 'ONCE' then
    insert into uptuple.maintenance_occurrence (window_id, during)
    values (new_id, tstzrange(planned.starts_at, planned.ends_at));
    perform uptuple.note_maintained_hours(new_id);
  else
    -- What would be under way now begins now.
    insert into uptuple.maintenance_occurrence (window_id, during)
    select new_id, tstzrange(at, max(upper(span)))
    from uptuple.recurring_spans(planned, at - coalesce(planned.duration, interval '50 hours'), at) span
    where span @> at and planned.starts_at <= at
    having count(*) > 0;
    perform uptuple.make_occurrences(new_id);
  end if;
  perform uptuple.hold_notices();

  if not exists (select from uptuple.maintained_services(new_id)) then
    raise warning 'maintenance % covers no service yet', new_id using hint = 'A service is covered as soon as it has the group or a tag.';
  end if;
  return new_id;
end
$function$;

comment on function uptuple.plan_maintenance(
  text, text[], text[], text[], boolean, timestamptz, timestamptz, interval, date, text[], time, time, text, text, text
) is
  'Announce maintenance of services, groups, tags or everything. Returns its number. When: starts_at (default: now) with ends_at or duration; '
  'day with from_time and until_time; weekdays with from_time and until_time; or cron with duration: the last three by the clocks of '
  'time_zone. Checks go on; notices wait for the end, and what is down only in it is not told and not counted.';

revoke execute on function uptuple.plan_maintenance(
  text, text[], text[], text[], boolean, timestamptz, timestamptz, interval, date, text[], time, time, text, text, text
) from public;
grant execute on function uptuple.plan_maintenance(
  text, text[], text[], text[], boolean, timestamptz, timestamptz, interval, date, text[], time, time, text, text, text
) to uptuple_operator;
