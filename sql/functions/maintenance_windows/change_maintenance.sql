-- Change maintenance; what is left out stays as it is. Notices that wait for its end wait for the new one, or go if their service is out of it.
--
-- What it covers changes from now on, also while it is under way. A start that is given alone moves it with its length. Of one that is under
-- way the start stays (UT002) and the end moves; one that recurs keeps what is under way and what is past, and what is still to come is
-- made anew. One that is over keeps everything but its words. Writes maintenance_window, maintenance_scope, maintenance_occurrence, delivery.
create or replace function uptuple.change_maintenance(
  maintenance bigint,
  title text default null,
  services text[] default null,
  groups text[] default null,
  tags text[] default null,
  everything boolean default null,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  duration interval default null,
  day date default null,
  weekdays text[] default null,
  from_time time default null,
  until_time time default null,
  cron text default null,
  time_zone text default null,
  description text default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  planned constant uptuple.maintenance_window := uptuple.find_maintenance(maintenance);
  at constant timestamptz := clock_timestamp();
  reschedules constant boolean := num_nonnulls(starts_at, ends_at, duration, day, weekdays, from_time, until_time, cron, time_zone) > 0;
  covers_other constant boolean := num_nonnulls(services, groups, tags, everything) > 0;
begin
  perform uptuple.check_name('title', coalesce(title, planned.title));
  if planned.recurrence = 'ONCE' and planned.ends_at <= at and (reschedules or covers_other) then
    raise exception 'maintenance % ended at %', maintenance, planned.ends_at
      using errcode = 'UT002', hint = 'Only its title and description can be changed any more. Nothing was changed.';
  end if;

  update uptuple.maintenance_window changed
  set title = coalesce(title, changed.title),
      description = case when description is null then changed.description else uptuple.printable(nullif(btrim(description), ''), 10000) end,
      sequence = changed.sequence + 1,
      changed_at = at,
      changed_by = session_user
  where changed.id = planned.id;
  if covers_other then
    perform uptuple.change_scope(planned.id, at, services, groups, tags, everything);
  end if;
  if reschedules and planned.recurrence = 'ONCE' then
    perform uptuple.reschedule_once(planned, at, starts_at, ends_at, duration, day, weekdays, from_time, until_time, cron, time_zone);
  elsif reschedules then
    perform uptuple.reschedule_recurring(planned, at, starts_at, ends_at, duration, day, weekdays, from_time, until_time, cron, time_zone);
  end if;
  perform uptuple.hold_notices();
  return planned.sequence + 1;
end
$function$;

comment on function uptuple.change_maintenance(
  bigint, text, text[], text[], text[], boolean, timestamptz, timestamptz, interval, date, text[], time, time, text, text, text
) is
  'Change maintenance, also while it is under way; what is left out stays as it is, an empty description takes it away, ends_at => ''infinity'' '
  'lets one that recurs go on. Returns its new sequence number.';

revoke execute on function uptuple.change_maintenance(
  bigint, text, text[], text[], text[], boolean, timestamptz, timestamptz, interval, date, text[], time, time, text, text, text
) from public;
grant execute on function uptuple.change_maintenance(
  bigint, text, text[], text[], text[], boolean, timestamptz, timestamptz, interval, date, text[], time, time, text, text, text
) to uptuple_operator;
