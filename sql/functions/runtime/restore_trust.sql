-- Believe a runtime again, and tell so whom its quarantine was told: its next results count. Answers whether it was in quarantine.
--
-- The caller holds the lock of its row, or takes it here. Called by judge_worker, weigh_verdicts and trust_worker. Writes worker; through
-- write_events event and delivery.
create or replace function uptuple.restore_trust(worker text, reason text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at timestamptz;
  blind uptuple.worker;
begin
  select * into blind from uptuple.worker known
  where known.name = worker and known.quarantined_at is not null
  for no key update;
  if not found then
    return false;
  end if;

  at := clock_timestamp();
  update uptuple.worker known
  set quarantined_at = null, quarantine_cause = null, quarantine_reason = null, agreements = 0, sampled_at = null, trusted_at = at
  where known.name = worker;

  perform uptuple.write_events(array[(
    'worker.trusted', 'info', null, blind.region, null,
    format('worker.trusted:%s:%s', extract(epoch from blind.quarantined_at), worker), at, null,
    jsonb_build_object(
      'worker', worker,
      'cause', blind.quarantine_cause,
      'reason', uptuple.printable(reason, 500),
      'quarantined_at', uptuple.iso_time(blind.quarantined_at),
      'quarantined_seconds', greatest(round(extract(epoch from at - blind.quarantined_at), 3), 0)
    )
  )::uptuple.notice]);
  return true;
end
$function$;

comment on function uptuple.restore_trust(text, text) is
  'Ends the quarantine of a runtime and writes worker.trusted. Answers whether it was in one.';

revoke execute on function uptuple.restore_trust(text, text) from public;
