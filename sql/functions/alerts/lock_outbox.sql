-- Lock all that a transaction needs which writes notices of some services, perhaps in several steps: the table of channels in share, that of
-- maintenance if some is under way, and the lanes.
--
-- write_events locks the lanes of what it is given, in the order of ids. Two calls in one transaction would lock them in two orders, and
-- deadlock with a report that needs both; a change of maintenance would wait for the first lanes while the second call waits for it. So
-- whoever may come to write twice calls this before, for all its services. Called by record_results and tell_due, or parts of them.
create or replace function uptuple.lock_outbox(service_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $function$
declare
  at constant timestamptz := clock_timestamp();
begin
  lock table uptuple.channel in row share mode;
  if exists (
    select from uptuple.maintenance_occurrence occurrence where occurrence.cancelled_at is null and occurrence.during @> at
  ) then
    lock table uptuple.maintenance_window in row share mode;
  end if;
  perform uptuple.lock_lanes(service_ids);
end
$function$;

comment on function uptuple.lock_outbox(bigint[]) is
  'Locks what a transaction needs that writes notices of some services, by id, in several steps.';

revoke execute on function uptuple.lock_outbox(bigint[]) from public;
