-- Make the jobs of all windows that start up to a moment ahead, and mark as MISSED what nobody claimed before its next window.
--
-- One producer at a time works: the others find the cursor's row locked and return 0. Two that work all the same make one job per
-- window, by the unique key, and insert in one order, since two that insert in opposed orders would deadlock. Time when nobody
-- enqueued is not replayed: after it each service gets its present window and no more.
-- Called by every runtime about once a second. Writes enqueue_cursor, job, second_look and region.
--
-- The order is that of the claims, so that a claim finds its rows side by side: by service id instead, each row of a batch was in a page
-- of its own, and claim and complete took 13 us a job more (of 156). A day's partition that somebody analysed while it was empty is
-- analysed with its first rows: plans are kept, and one from then took any index for a job's key, 2,400 pages a job among 200,000.
create or replace function uptuple.enqueue_jobs()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  lookahead_seconds constant integer := 3;
  now_second constant bigint := floor(extract(epoch from clock_timestamp()));
  until_slot constant bigint := now_second + lookahead_seconds;
  today constant text := 'job' || to_char(to_timestamp(until_slot) at time zone 'UTC', '_YYYYMMDD');
  since_slot bigint;
  enqueued integer;
  first_due timestamptz;
begin
  select cursor.enqueued_until into since_slot
  from uptuple.enqueue_cursor cursor
  for no key update skip locked;

  if since_slot is null then
    return 0;
  end if;
  -- A cursor further ahead than it can be (a clock was set back) would stop all windows until that time.
  if since_slot > until_slot + 2 * lookahead_seconds then
    since_slot := now_second;
  end if;
  perform uptuple.ensure_partitions(now_second - 86400, until_slot);

  insert into uptuple.job (scheduled_slot, service_id, region, revision, interval_seconds, due_at)
  select due.slot, due.service_id, due.region, due.revision, due.interval_seconds, due.due_at
  from uptuple.windows_between(since_slot, until_slot, now_second) due
  order by due.due_at, due.slot, due.service_id, due.region
  on conflict on constraint job_window_key do nothing;
  get diagnostics enqueued = row_count;

  if enqueued > 0 and exists (select from pg_catalog.pg_class where pg_class.oid = to_regclass('uptuple.' || today) and pg_class.reltuples = 0) then
    execute format('analyze uptuple.%I', today);
  end if;

  if exists (select from uptuple.second_look) then
    perform uptuple.prefer_others(since_slot, until_slot);
  end if;

  update uptuple.enqueue_cursor set enqueued_until = greatest(since_slot, until_slot);

  first_due := uptuple.find_queue_heads();
  if first_due < clock_timestamp() - interval '1 s' then
    perform uptuple.end_jobs(first_due);
  end if;
  return enqueued;
end
$function$;

comment on function uptuple.enqueue_jobs() is
  'Make the jobs of all windows that start within the next 3 seconds, and mark unclaimed earlier ones MISSED. Returns how many were '
  'made; 0 also while another producer is at work. Call it about once a second, from as many places as you like.';

revoke execute on function uptuple.enqueue_jobs() from public;
grant execute on function uptuple.enqueue_jobs() to uptuple_worker, uptuple_operator;
