-- Have the hours counted anew that have been rolled up and turn out to have been maintenance.
--
-- Race, roll_up is at such an hour and does not see the window yet: the note is there when it looks again, and until then reports take the hour
-- from results. Called by plan_maintenance for a window that began in the past. Writes unfinished_hour.
create or replace function uptuple.note_maintained_hours(window_id bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  mark constant uptuple.roll_up_mark := (select roll_up_mark from uptuple.roll_up_mark);
  span constant tstzrange := (
    select range_merge(range_agg(occurrence.during)) from uptuple.maintenance_occurrence occurrence where occurrence.window_id = window_id
  );
begin
  insert into uptuple.unfinished_hour (service_id, region, hour)
  select maintained.service_id, state.region, hour
  from generate_series(
    greatest(date_trunc('hour', lower(span), 'UTC'), to_timestamp(mark.rolled_from)),
    least(upper(span), to_timestamp(mark.rolled_until)) - interval '1 us',
    interval '1 hour'
  ) hour
  cross join uptuple.maintained_services(window_id) maintained
  join uptuple.service_state state on state.service_id = maintained.service_id
  on conflict on constraint unfinished_hour_pkey do update set noted_at = clock_timestamp();
end
$function$;

comment on function uptuple.note_maintained_hours(bigint) is
  'Notes the hours of the past that a new maintenance window, by its number, touches, so that they are rolled up anew.';

revoke execute on function uptuple.note_maintained_hours(bigint) from public;
