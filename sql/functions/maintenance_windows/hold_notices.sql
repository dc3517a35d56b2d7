-- Set right until when held notices wait, after maintenance was changed: to its new end, or no longer at all. Returns how many changed.
--
-- Only what waits for the end of maintenance, or for a digest after it, is touched: what was written before it goes on, and what is tried again keeps its time. The caller
-- holds lock_maintenance, so no notice is being held meanwhile. Locks lanes in the order of ids, as all do. Writes delivery; wakes the
-- runtimes.
create or replace function uptuple.hold_notices()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  service_ids bigint[];
  changed integer;
begin
  service_ids := array(
    select distinct delivery.service_id from uptuple.delivery where delivery.held_until > at and delivery.finished_at is null
  );
  if service_ids = '{}' then
    return 0;
  end if;
  perform uptuple.lock_lanes(service_ids);

  with held as materialized (
    select given.id as service_id, coalesce(uptuple.maintenance_end(given.id, at), at) as until
    from unnest(service_ids) given (id)
  )
  update uptuple.delivery
  set held_until = held.until,
      due_at = delivery.due_at + (held.until - delivery.held_until),
      collect_until = delivery.collect_until + (held.until - delivery.held_until)
  from held
  where delivery.service_id = held.service_id
    and delivery.state in ('READY', 'WAITING', 'HELD')
    and delivery.held_until > at
    and delivery.held_until <> held.until;
  get diagnostics changed = row_count;
  if changed > 0 then
    notify uptuple_alerts;
  end if;
  return changed;
end
$function$;

comment on function uptuple.hold_notices() is
  'Lets the notices that wait for the end of maintenance wait for its present end, or go if there is none any more. Returns how many changed.';

revoke execute on function uptuple.hold_notices() from public;
