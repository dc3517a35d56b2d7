-- Where a region's queue begins, as find_queue_heads saw it; the beginning of time if nobody has looked for a while, or knows the region.
--
-- In plpgsql, whose plan is kept: each claim calls it. Reads region. Called by claim_jobs and next_job_due.
create or replace function uptuple.queue_head(region text, at timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  return coalesce(
    (select queue.queue_head from uptuple.region queue where queue.name = region and queue.queue_searched_at between at - interval '15 s' and at),
    '-infinity'
  );
end
$function$;

comment on function uptuple.queue_head(text, timestamptz) is
  'Where a region''s queue begins: no job that waits or runs was due before. -infinity if nobody has looked for 15 seconds.';

revoke execute on function uptuple.queue_head(text, timestamptz) from public;
