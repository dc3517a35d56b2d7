-- Did others see three services up within two minutes that this runtime had just seen down?
--
-- Counted against it is what it was contradicted on, and for it what it contradicted others on: a short failure that was real is met by
-- all runtimes alike, each contradicts the other, and nobody is blind. Without a trusted colleague nobody is believed less for it.
-- Called by doubt_results for batches with a DOWN, and by judge_worker. Reads worker and worker_contradiction.
create or replace function uptuple.is_contradicted(worker text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $function$
#variable_conflict use_variable
declare
  since timestamptz;
  from_region text;
  surplus integer;
begin
  select greatest(known.trusted_at, clock_timestamp() - interval '2 minutes'), known.region into since, from_region
  from uptuple.worker known
  where known.name = worker;

  select (
      select count(distinct against.service_id) from uptuple.worker_contradiction against
      where against.worker = worker and against.noted_at > since
    ) - (
      select count(distinct in_favour.service_id) from uptuple.worker_contradiction in_favour
      where in_favour.contradicted_by = worker and in_favour.noted_at > since
    )
  into surplus;

  return surplus >= 3 and uptuple.has_colleague(worker, from_region);
end
$function$;

comment on function uptuple.is_contradicted(text) is
  'True if others contradicted a runtime on three services within two minutes, and on three more than it contradicted them.';

revoke execute on function uptuple.is_contradicted(text) from public;
