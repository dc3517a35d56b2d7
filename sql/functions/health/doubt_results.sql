-- Results as they count: those of a runtime in quarantine are INCONCLUSIVE, with what it saw as the reason.
--
-- A runtime that was contradicted too often is quarantined here, by its own next failing batch and before that counts. Race, a runtime is
-- quarantined while a batch of its own is recorded: the rows of the workers are locked from here to the commit, FOR SHARE among batches,
-- so that no DOWN is recorded after the quarantine began. The order of locks is jobs, workers, states; nobody who holds states waits for
-- a worker. Called by complete_batch, for batches with a DOWN in them and while any runtime is in quarantine. Writes worker and event.
create or replace function uptuple.doubt_results(records uptuple.health_record[])
returns uptuple.health_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  claimer text;
  watched uptuple.worker;
  is_doubtful boolean;
  blind text[] := '{}';
begin
  for claimer in select distinct given.worker from unnest(records) given where given.worker is not null order by 1 loop
    is_doubtful := uptuple.is_contradicted(claimer)
      or exists (select from uptuple.worker where worker.name = claimer and worker.quarantined_at is not null);
    -- Never SHARE first and more later: two batches of one runtime would wait for each other.
    if is_doubtful then
      select * into watched from uptuple.worker where worker.name = claimer for no key update;
      if watched.quarantined_at is not null then
        perform uptuple.weigh_verdicts(watched, records);
        blind := blind || claimer;
      elsif uptuple.is_contradicted(claimer) then
        perform uptuple.quarantine_worker(claimer, 'contradicted', uptuple.contradictions_in_words(claimer));
        blind := blind || claimer;
      end if;
    else
      select * into watched from uptuple.worker where worker.name = claimer for share;
      if watched.quarantined_at is not null then
        blind := blind || claimer;
      end if;
    end if;
  end loop;

  for position in 1 .. case when blind = '{}' then 0 else cardinality(records) end loop
    if records[position].worker = any (blind) and records[position].status <> 'INCONCLUSIVE' then
      records[position].reason := left(
        format('the runtime %s is in quarantine; it saw %s: %s', records[position].worker, records[position].status, records[position].reason), 500
      );
      records[position].code := 'worker.quarantined';
      records[position].status := 'INCONCLUSIVE';
    end if;
  end loop;
  return records;
end
$function$;

comment on function uptuple.doubt_results(uptuple.health_record[]) is
  'Makes the results of runtimes in quarantine INCONCLUSIVE, and quarantines those that others contradicted too often.';

revoke execute on function uptuple.doubt_results(uptuple.health_record[]) from public;
