-- Tell what is due by now without a result that causes it: that a service is stable, reminders, escalations, failures that were withheld,
-- services that have no verdicts any more, or have them again, and failures that came together.
--
-- Called about once a second by every runtime, and cheap while nothing is due: each part looks into an index or at one row, and leaves to
-- others what they have locked. The tables of channels and of maintenance are locked first, in share: its parts write notices one after
-- another, and whoever changes settings holds one of these while he waits for lanes. Writes incident, flapping, service_state,
-- silence_watch, event and delivery.
create or replace function uptuple.tell_due()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
begin
  lock table uptuple.channel in row share mode;
  lock table uptuple.maintenance_window in row share mode;
  return uptuple.tell_stable() + uptuple.tell_incidents() + uptuple.tell_silence() + uptuple.tell_digests();
end
$function$;

comment on function uptuple.tell_due() is
  'Writes what is due now without a result that causes it: reminders, escalations, withheld failures, stable, unknown and known. Returns how '
  'many notices. Call it about once a second, from as many places as you like.';

revoke execute on function uptuple.tell_due() from public;
grant execute on function uptuple.tell_due() to uptuple_worker, uptuple_operator;
