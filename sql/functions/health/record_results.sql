-- Store results and move the state, streak and incident of their services; write the notices that follow. All or nothing.
--
-- The one door for jobs, heartbeats and people. States are locked in (service, region) order before any is read, so concurrent batches
-- neither count twice nor deadlock. That look into the index is the only one: what follows finds them by ctid.
-- Several records of one service are applied one after another in slot order, so that a batch equals its single calls: an UPDATE with three
-- rows for one target would count once. Each round moves rows, so the next one looks for them anew. Nearly always there is one round, and
-- regrouping, 2 us a record, is left out. Certificates are looked at only where a check saw one.
-- Called by complete_batch, record_health, take_beat and check_heartbeats.
create or replace function uptuple.record_results(records uptuple.health_record[])
returns table (job_id bigint, became text)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
declare
  state_rows constant tid[] := uptuple.lock_states(records);
  round_of_records uptuple.health_record[];
begin
  if exists (select from unnest(records) given where given.detail ? 'certificate') then
    perform uptuple.note_certificates(records, state_rows);
  end if;

  if not exists (select from unnest(state_rows) row_id group by row_id having count(*) > 1) then
    return query select * from uptuple.apply_results(records, state_rows);
    return;
  end if;

  -- Each round may write notices.
  perform uptuple.lock_outbox(array(select distinct given.service_id from unnest(records) given));
  for round_of_records in
    select array_agg(numbered.record order by numbered.position)
    from (
      select records[position] as record, position,
        row_number() over (
          partition by (records[position]).service_id, (records[position]).region
          order by (records[position]).scheduled_slot, position
        ) as round
      from generate_subscripts(records, 1) position
    ) numbered
    group by numbered.round
    order by numbered.round
  loop
    return query select * from uptuple.apply_results(round_of_records, uptuple.lock_states(round_of_records));
  end loop;
end
$function$;

comment on function uptuple.record_results(uptuple.health_record[]) is
  'Stores results and moves the state, streak and incident of their services, in slot order, with the notices that follow. '
  'Answers which jobs changed a status, and to what.';

revoke execute on function uptuple.record_results(uptuple.health_record[]) from public;
