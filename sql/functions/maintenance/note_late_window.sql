-- Note that a window which may have been rolled up already gets a job after all: its hour is taken from results until it is counted anew.
--
-- Race, roll_up counts the hour before this is committed and does not see the job: the note is there when it looks again. Race, roll_up
-- has just found an older note of the hour settled: noted_at tells it that this is another one. For enqueue_job, whose windows alone may
-- have begun before the cursor. Writes unfinished_hour.
create or replace function uptuple.note_late_window(service_id bigint, region text, scheduled_slot bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
begin
  insert into uptuple.unfinished_hour (service_id, region, hour)
  values (note_late_window.service_id, note_late_window.region, to_timestamp(scheduled_slot - mod(scheduled_slot, 3600)))
  on conflict on constraint unfinished_hour_pkey do update set noted_at = clock_timestamp();
end
$function$;

comment on function uptuple.note_late_window(bigint, text, bigint) is
  'Notes that a window got a job late, so that its hour is rolled up anew.';

revoke execute on function uptuple.note_late_window(bigint, text, bigint) from public;
