-- Remember who said DOWN where the next check, by another one, said UP. What that means is decided when the former reports next.
--
-- Not decided here: the caller, apply_results, holds states, and whoever holds a worker's row may be waiting for one of them.
-- Writes worker_contradiction.
create or replace function uptuple.note_contradictions(workers text[], contradicted_by text[], service_ids bigint[])
returns void
language sql
set search_path = pg_catalog, pg_temp
as $function$
  insert into uptuple.worker_contradiction as noted (worker, contradicted_by, service_id, noted_at)
  select given.worker, given.contradicted_by, given.service_id, clock_timestamp()
  from unnest($1, $2, $3) given (worker, contradicted_by, service_id)
  order by given.service_id
  on conflict on constraint worker_contradiction_pkey do update set noted_at = excluded.noted_at;
$function$;

comment on function uptuple.note_contradictions(text[], text[], bigint[]) is
  'Remembers for two minutes which runtimes said DOWN where another one then said UP.';

revoke execute on function uptuple.note_contradictions(text[], text[], bigint[]) from public;
