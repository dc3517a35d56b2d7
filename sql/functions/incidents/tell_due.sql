-- Tell what is due by now without a result that causes it: that a service is stable, reminders, escalations, failures that were withheld,
-- services that have no verdicts any more, or have them again, and failures that came together.
--
-- Called about once a second by every runtime, and cheap while nothing is due: each part looks into an index or at one row, and leaves to
-- others what they have locked. The first part that tells something is the last in this call: another would lock further lanes, in an order
-- that deadlocks with reports of what was sent. Writes incident, flapping, service_state, silence_watch, event and delivery.
create or replace function uptuple.tell_due()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  told integer;
begin
  perform uptuple.lock_outbox('{}');
  told := uptuple.tell_stable();
  if told = 0 then
    told := uptuple.tell_incidents();
  end if;
  if told = 0 then
    told := uptuple.tell_silence();
  end if;
  if told = 0 then
    told := uptuple.tell_digests();
  end if;
  return told;
end
$function$;

comment on function uptuple.tell_due() is
  'Writes what is due now without a result that causes it: reminders, escalations, withheld failures, stable, unknown and known. Returns how '
  'many notices. Call it about once a second, from as many places as you like, and again at once while it tells something.';

revoke execute on function uptuple.tell_due() from public;
grant execute on function uptuple.tell_due() to uptuple_worker, uptuple_operator;
