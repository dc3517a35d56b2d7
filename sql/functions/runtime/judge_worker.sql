-- What a runtime's report means for whether it is believed. Called by report_worker, which holds the lock of its row.
--
-- Blind: its canary fails, and so do its last three probes, or as many as there are services, if fewer. Contradicted: as
-- is_contradicted says. The first is trusted again when its canary answers. The second when its verdicts agree, which weigh_verdicts sees
-- to, or when nobody is left to agree with. Writes worker, event and delivery.
create or replace function uptuple.judge_worker(known uptuple.worker, canary_is_news boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  reached integer;
begin
  if known.quarantined_at is null then
    if known.canary_answers = false
      and known.canary_at > clock_timestamp() - interval '1 minute'
      and known.unanswered > 0
      and known.unanswered >= (
        select count(*)
        from (select from uptuple.service where service.enabled and known.region = any (service.regions) limit 3) few
      )
    then
      perform uptuple.quarantine_worker(
        known.name, 'canary', 'nothing answers its probes, and its canary does not either: ' || known.canary_reason
      );
    elsif uptuple.is_contradicted(known.name) then
      perform uptuple.quarantine_worker(known.name, 'contradicted', uptuple.contradictions_in_words(known.name));
    end if;
    return;
  end if;

  if known.quarantine_cause = 'contradicted' then
    if not uptuple.has_colleague(known.name, known.region) then
      perform uptuple.restore_trust(known.name, 'no other trusted runtime of its region is left to agree with');
    end if;
  elsif canary_is_news then
    update uptuple.worker
    set agreements = case when known.canary_answers then worker.agreements + 1 else 0 end
    where worker.name = known.name
    returning worker.agreements into reached;
    if reached >= uptuple.agreements_needed(known.quarantines) then
      perform uptuple.restore_trust(known.name, 'its canary answers again');
    end if;
  end if;
end
$function$;

comment on function uptuple.judge_worker(uptuple.worker, boolean) is
  'Quarantines a runtime, or ends its quarantine, by what it has just reported and by what others saw.';

revoke execute on function uptuple.judge_worker(uptuple.worker, boolean) from public;
