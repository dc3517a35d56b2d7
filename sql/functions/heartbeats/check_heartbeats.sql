-- Find the heartbeats that are overdue, and record what that means for each: one verdict a missed window, through record_results.
--
-- DOWN if it did not report, or started and did not end. INCONCLUSIVE, a gap, if nobody may have heard it (nobody called this for half a
-- minute of the time in which it was to report), or if its fire falls into a change of the clocks, where programs differ (unsure_until).
-- Windows that were missed while nobody called this are not made up for: there is one verdict, and the next window is one to come.
-- One caller at a time works, the others find the cursor's row locked and return 0. Race, a service reports just now: its row is
-- skipped, and looked at again in a second if it is still due. Found through an index on due_at: with nothing due, three pages are read.
-- Called by every runtime about once a second. Writes heartbeat_cursor and heartbeat, and through record_results all the rest.
create or replace function uptuple.check_heartbeats()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
declare
  at constant timestamptz := clock_timestamp();
  arrival constant bigint := floor(extract(epoch from at));
  at_once constant integer := 500;
  longest_silence constant interval := interval '30 s';
  cursor uptuple.heartbeat_cursor;
  records uptuple.health_record[] := '{}';
  late record;
begin
  select heartbeat_cursor.* into cursor from uptuple.heartbeat_cursor where only_row for no key update skip locked;
  if not found then
    return 0;
  end if;
  if at - cursor.checked_at > longest_silence then
    cursor.deaf := tstzrange(cursor.checked_at, at);
  end if;
  update uptuple.heartbeat_cursor set checked_at = at, deaf = cursor.deaf where only_row;

  for late in
    select due.*, service.regions, service.revision, service.interval_seconds, revision.config,
      make_interval(secs => (revision.config ->> 'grace_seconds')::integer) as grace
    from (
      select beat.*
      from uptuple.heartbeat beat
      where beat.due_at <= at
      order by beat.due_at
      limit at_once
      for no key update skip locked
    ) due
    cross join lateral (select * from uptuple.service where service.id = due.service_id offset 0) service
    cross join lateral (
      select revision.config from uptuple.service_revision revision
      where revision.service_id = service.id and revision.revision = service.revision
      offset 0
    ) revision
  loop
    records := records || uptuple.judge_overdue(late.service_id, late.regions[1], late.revision, late.interval_seconds, late.config, late.grace, cursor.deaf, at);
  end loop;

  if cardinality(records) > 0 then
    perform uptuple.ensure_partitions(arrival, arrival + 120);
    perform uptuple.record_results(records);
  end if;
  return cardinality(records);
end
$function$;

comment on function uptuple.check_heartbeats() is
  'Find the heartbeats that are overdue and record it. Returns how many; 0 also while another caller is at work. Call it about once a second, '
  'from as many places as you like.';

revoke execute on function uptuple.check_heartbeats() from public;
grant execute on function uptuple.check_heartbeats() to uptuple_worker, uptuple_operator;
