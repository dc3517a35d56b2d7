-- Discard notices that are unsent, with a reason, and let go on what they held back.
--
-- The caller holds the lanes and has seen that none is being sent. Called by discard_alert and discard_alerts. Writes delivery.
create or replace function uptuple.give_up(delivery_ids bigint[], reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
begin
  update uptuple.delivery
  set state = 'DISCARDED', claim_token = null, finished_at = clock_timestamp(), note = uptuple.printable(reason, 500)
  where delivery.id = any (delivery_ids);
  perform uptuple.advance_lanes('{}', delivery_ids);
end
$function$;

comment on function uptuple.give_up(bigint[], text) is 'Discards unsent notices, with a reason; what they held back goes on.';

revoke execute on function uptuple.give_up(bigint[], text) from public;
