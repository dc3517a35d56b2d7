-- Make claims look as far back as a job that is due since before the head of its region's queue.
--
-- For who gives back or makes a job that was due a while ago; without it, find_queue_heads finds the job within ten seconds. After the jobs, the
-- last row that its caller locks. Called by release_jobs and enqueue_job. Writes region.
create or replace function uptuple.lower_queue_head(region text, due_at timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  update uptuple.region queue
  set queue_head = due_at
  where queue.name = region and queue.queue_head > due_at;
end
$function$;

comment on function uptuple.lower_queue_head(text, timestamptz) is 'Makes claims look as far back as a job that was due at that time.';

revoke execute on function uptuple.lower_queue_head(text, timestamptz) from public;
