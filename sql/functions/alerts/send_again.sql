-- Put notices that are dead, discarded or superseded back into their lanes, with all their attempts, and wake the runtimes.
--
-- A person asked, so they do not wait for the end of maintenance either. The caller keeps out whoever answers, gives back or discards, holds
-- the lanes, and has seen that all may go. Called by requeue_alert and requeue_alerts. Writes delivery.
create or replace function uptuple.send_again(delivery_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
begin
  update uptuple.delivery
  set state = 'READY', attempts = 0, due_at = clock_timestamp(), held_until = null, finished_at = null, accepted_token = null, note = null,
      requeued_at = clock_timestamp()
  where delivery.id = any (delivery_ids);
  perform uptuple.advance_lanes('{}', delivery_ids);
  notify uptuple_alerts;
end
$function$;

comment on function uptuple.send_again(bigint[]) is 'Puts notices back into their lanes, with all their attempts.';

revoke execute on function uptuple.send_again(bigint[]) from public;
