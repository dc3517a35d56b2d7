-- Is there another runtime of a region that lives, probes and is trusted? So that it can be asked for a second opinion.
--
-- A runtime that was killed counts for the 45 seconds until it is shown as LOST, so whoever waits for a colleague waits for a bounded
-- time. Called only where a service fails or a runtime is in doubt. Reads worker.
create or replace function uptuple.has_colleague(worker text, region text)
returns boolean
language sql
stable
return exists (
  select from uptuple.worker colleague
  where colleague.name is distinct from $1
    and colleague.region = $2
    and 'probe' = any (colleague.roles)
    and colleague.stopped_at is null
    and colleague.quarantined_at is null
    and colleague.seen_at > clock_timestamp() - interval '45 s'
);

comment on function uptuple.has_colleague(text, text) is 'True if another runtime of the region lives, probes and is trusted.';

revoke execute on function uptuple.has_colleague(text, text) from public;
