-- Note for each region where its queue begins: at the first job that waits or runs, two seconds ago at the latest.
--
-- The claim's index keeps the entries of jobs that were claimed and done until vacuum comes by: at 8,000 checks a second each claim walked
-- over up to 3,300 pages of them, 7 to 17 ms, which was most of its cost. So a claim begins here. Two seconds, since who asks for a check
-- takes the time before he commits; every ten seconds, or after a clock was set back, the search is from the very beginning, so that what was
-- committed later than that is claimed ten seconds late at most. Tried and left out: a claim that finds nothing looks before the head too.
-- After four minutes of a held snapshot at 1,000 checks a second, when nothing can be cleaned, two clients took 38 % of a core each, not 22 %.
-- Answers when the first of all those jobs was or is due, or null. Called by enqueue_jobs, whose lock lets one at a time do it. Writes region.
create or replace function uptuple.find_queue_heads()
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  known record;
  from_start boolean;
  first_due timestamptz;
  first_of_all timestamptz;
begin
  for known in select region.name, region.queue_head, region.queue_searched_at from uptuple.region order by region.name loop
    from_start := known.queue_searched_at not between at - interval '10 s' and at;

    first_due := uptuple.first_due(known.name, case when from_start then '-infinity' else known.queue_head end);

    update uptuple.region
    set queue_head = least(first_due, at - interval '2 s'),
        queue_searched_at = case when from_start then at else region.queue_searched_at end
    where region.name = known.name;
    first_of_all := least(first_of_all, first_due);
  end loop;
  return first_of_all;
end
$function$;

comment on function uptuple.find_queue_heads() is 'Notes where each region''s queue begins, so that claims do not walk over what was done before. Answers when the first job was due.';

revoke execute on function uptuple.find_queue_heads() from public;
