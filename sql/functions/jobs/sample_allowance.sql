-- How many jobs a quarantined runtime may claim: one every five seconds, to be judged by, while a trusted colleague does the work.
--
-- Each job of its own is a window without a verdict. With no such colleague it works on: an INCONCLUSIVE window tells more than a MISSED
-- one. Called by claim_jobs. Writes worker.
create or replace function uptuple.sample_allowance(worker text, region text, max_jobs integer)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  if not uptuple.has_colleague(worker, region) then
    return max_jobs;
  end if;
  update uptuple.worker known
  set sampled_at = clock_timestamp()
  where known.name = worker
    and (known.sampled_at is null or known.sampled_at not between clock_timestamp() - interval '5 s' and clock_timestamp());
  return case when found then 1 else 0 end;
end
$function$;

comment on function uptuple.sample_allowance(text, text, integer) is
  'How many of max_jobs a quarantined runtime may claim: all if it has no trusted colleague, else one every five seconds.';

revoke execute on function uptuple.sample_allowance(text, text, integer) from public;
