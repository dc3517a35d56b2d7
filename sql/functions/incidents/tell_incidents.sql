-- Tell what is due of open incidents: reminders, escalations, and failures that were withheld and are to be told.
--
-- With nothing due it reads one index entry. Looks at each incident under the lock of its service's state, so that an acknowledgement or a
-- recovery comes wholly before or wholly after. Race, two runtimes: the second skips what the first has locked, or finds that it has been
-- looked at. Race, a setting is changed: whoever changes one holds the channel table, which the caller shares, and has open incidents looked at
-- again. Called by tell_due. Writes incident, event and delivery. Returns how many notices it wrote.
create or replace function uptuple.tell_incidents()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
declare
  at constant timestamptz := clock_timestamp();
  due bigint[];
  withheld bigint[];
  announced bigint[];
begin
  due := array(
    select incident.id
    from uptuple.incident
    where incident.closed_at is null and incident.look_at <= at
    order by incident.look_at
    limit 500
  );
  if due = '{}' then
    return 0;
  end if;

  due := array(
    select incident.id
    from uptuple.service_state state
    join uptuple.incident on incident.service_id = state.service_id and incident.region = state.region
    where incident.id = any (due)
    order by state.service_id, state.region
    for no key update of state skip locked
  );
  due := array(
    select incident.id
    from uptuple.incident
    where incident.id = any (due) and incident.closed_at is null and incident.look_at <= at
    order by incident.id
    for no key update
  );

  if due = '{}' then
    return 0;
  end if;

  perform uptuple.lock_outbox(array(select distinct incident.service_id from uptuple.incident where incident.id = any (due)));
  withheld := array(select incident.id from uptuple.incident where incident.id = any (due) and incident.withheld_because is not null);
  announced := array(
    select incident.id
    from uptuple.incident
    where incident.id = any (withheld) and uptuple.why_withheld(incident.id) is null and not uptuple.in_maintenance(incident.service_id, at)
    order by incident.id
  );
  update uptuple.incident
  set look_at = at + interval '5 seconds'
  where incident.id = any (withheld) and incident.id <> all (announced);
  perform uptuple.announce_incidents(announced);

  return cardinality(announced)
    + uptuple.tell_unacknowledged(array(select id from unnest(due) id where id <> all (withheld) order by id));
end
$function$;

comment on function uptuple.tell_incidents() is 'Writes the reminders, escalations and withheld failures that are due now. Returns how many notices.';

revoke execute on function uptuple.tell_incidents() from public;
