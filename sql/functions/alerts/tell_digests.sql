-- Tell failures, or recoveries, that were collected for a channel in one digest; one alone goes by itself.
--
-- They stay in their lanes and wait for the digest, so that recoveries come after what told the failures; it stands in no lane itself. Race, a
-- claim: what is collected is due only later, and is locked here. Race, two runtimes: the second skips what the first has locked. Called by
-- tell_due, which shares the channel table. Writes event and delivery. Returns how many digests it wrote.
create or replace function uptuple.tell_digests()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  collecting record;
  candidates bigint[];
  members bigint[];
  key text;
  digest_id bigint;
  written integer := 0;
begin
  for collecting in
    select channel.id, collected.kind, collected.severity
    from uptuple.channel
    cross join (values ('service.failed', 'critical'), ('service.recovered', 'info')) collected (kind, severity)
    where channel.enabled
      and exists (
        select from uptuple.delivery
        join uptuple.event on event.id = delivery.event_number and event.kind = collected.kind
        where delivery.channel_id = channel.id and delivery.collect_until between at - interval '1 minute' and at
          and delivery.state = 'READY' and delivery.attempts = 0 and delivery.due_at > delivery.collect_until and delivery.grouped_in is null
      )
    order by channel.id, collected.severity
  loop
    candidates := array(
      select delivery.id
      from uptuple.delivery
      join uptuple.event on event.id = delivery.event_number and event.kind = collecting.kind
      where delivery.channel_id = collecting.id and delivery.collect_until between at - interval '1 minute' and at
        and delivery.state = 'READY' and delivery.attempts = 0 and delivery.due_at > delivery.collect_until and delivery.grouped_in is null
      order by delivery.id
      limit 1000
    );
    members := array(
      select delivery.id
      from uptuple.delivery
      where delivery.id = any (candidates) and delivery.state = 'READY' and delivery.attempts = 0 and delivery.grouped_in is null
      order by delivery.id
      for no key update skip locked
    );
    continue when members = '{}';
    if cardinality(members) = 1 then
      update uptuple.delivery set due_at = at where delivery.id = members[1];
      notify uptuple_alerts;
      continue;
    end if;

    key := format('digest:%s:%s', collecting.id, members[1]);
    perform uptuple.write_events(
      array[(
        'digest', collecting.severity, null, null, null, key, at, null,
        (
          select jsonb_build_object(
            'count', cardinality(members),
            'of', collecting.kind,
            'reason', case when count(distinct event.data ->> 'reason') = 1 then min(event.data ->> 'reason') end,
            'services', jsonb_agg(
              jsonb_strip_nulls(jsonb_build_object(
                'service', event.data -> 'service', 'incident_id', event.data -> 'incident_id', 'code', event.data -> 'code',
                'reason', event.data -> 'reason', 'failing_since', event.data -> 'failing_since',
                'down_seconds', event.data -> 'down_seconds'
              ))
              order by event.id
            ) filter (where listed.position <= 50)
          )
          from unnest(members) with ordinality listed (id, position)
          join uptuple.delivery on delivery.id = listed.id
          join uptuple.event on event.id = delivery.event_number
        )
      )::uptuple.notice],
      array[(key, collecting.id)::uptuple.recipient]
    );
    select delivery.id into digest_id
    from uptuple.event
    join uptuple.delivery on delivery.event_number = event.id
    where event.dedupe_key = key;
    update uptuple.delivery set state = 'WAITING', grouped_in = digest_id where delivery.id = any (members);
    written := written + 1;
  end loop;
  return written;
end
$function$;

comment on function uptuple.tell_digests() is 'Tells failures, or recoveries, that were collected for a channel in one digest. Returns how many digests it wrote.';

revoke execute on function uptuple.tell_digests() from public;
