-- Stop believing a runtime, and tell so once: from now on its results are INCONCLUSIVE.
--
-- The caller holds the lock of its row, so that no batch of its own is half believed. Quarantines less than an hour apart are counted: the
-- more there were, the more it takes to be trusted again, and a connection that comes and goes makes few notices. Called by
-- doubt_results and judge_worker. Writes worker; through write_events event and delivery.
create or replace function uptuple.quarantine_worker(worker text, cause text, reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  at_region text;
begin
  update uptuple.worker known
  set quarantined_at = at,
      quarantine_cause = cause,
      quarantine_reason = uptuple.printable(reason, 500),
      quarantines = case when known.trusted_at > at - interval '1 hour' then known.quarantines + 1 else 1 end,
      agreements = 0,
      sampled_at = null
  where known.name = worker and known.quarantined_at is null
  returning known.region into at_region;
  if not found then
    return;
  end if;

  perform uptuple.write_events(array[(
    'worker.quarantined', 'warning', null, at_region, null,
    format('worker.quarantined:%s:%s', extract(epoch from at), worker), at, null,
    jsonb_build_object('worker', worker, 'cause', cause, 'reason', uptuple.printable(reason, 500))
  )::uptuple.notice]);
end
$function$;

comment on function uptuple.quarantine_worker(text, text, text) is
  'Makes the results of a runtime INCONCLUSIVE from now on, and writes worker.quarantined. Nothing if it is quarantined already.';

revoke execute on function uptuple.quarantine_worker(text, text, text) from public;
