-- Tell that services have no verdicts any more: each by itself, or more than five in one notice, which concerns no single service.
--
-- That one goes to each channel that would be told of at least one of them. The caller holds the locks of the states. Called by tell_silence.
-- Writes service_state, event and delivery. Returns how many notices it wrote.
create or replace function uptuple.tell_unknown(service_ids bigint[])
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  moment constant text := floor(extract(epoch from at) * 1000)::text;
  named constant integer := 20;
  together constant boolean := cardinality(service_ids) > 5;
  notices uptuple.notice[];
  recipients uptuple.recipient[] := '{}';
begin
  if service_ids = '{}' then
    return 0;
  end if;
  if together then
    select array[(
      'service.unknown', 'warning', null, null, null, format('services:service.unknown:%s', moment), at, null,
      jsonb_build_object(
        'count', cardinality(service_ids),
        'services', jsonb_agg(service.name order by service.name) filter (where service.position <= named),
        'reason', format('%s services have no verdicts any more', cardinality(service_ids)),
        'last_verdict_at', uptuple.iso_time(max(state.verdict_at))
      )
    )::uptuple.notice]
    into notices
    from (
      select known.id, known.name, row_number() over (order by known.name) as position
      from uptuple.service known
      where known.id = any (service_ids)
    ) service
    join uptuple.service_state state on state.service_id = service.id;

    recipients := array(
      select (format('services:service.unknown:%s', moment), channel.id)::uptuple.recipient
      from uptuple.channel
      where channel.removed_at is null
        and exists (
          select from uptuple.service
          where service.id = any (service_ids)
            and uptuple.is_routed(channel.id, 'service.unknown', 'warning', service.id, service.group_name, service.tags)
        )
      order by channel.id
    );
  else
    notices := array(
      select (
        'service.unknown', 'warning', state.service_id, state.region, null,
        format('service:%s:%s:service.unknown:%s', state.service_id, state.region, moment), at, null,
        jsonb_build_object('reason', 'it has no verdicts any more', 'last_verdict_at', uptuple.iso_time(state.verdict_at))
      )::uptuple.notice
      from uptuple.service_state state
      where state.service_id = any (service_ids)
      order by state.service_id, state.region
    );
  end if;
  perform uptuple.write_events(notices, recipients);

  update uptuple.service_state state
  set unknown_event = event.id
  from uptuple.event
  where state.service_id = any (service_ids)
    and event.dedupe_key = case
      when together then format('services:service.unknown:%s', moment)
      else format('service:%s:%s:service.unknown:%s', state.service_id, state.region, moment)
    end;
  return cardinality(notices);
end
$function$;

comment on function uptuple.tell_unknown(bigint[]) is 'Tells that services have no verdicts any more. Returns how many notices it wrote.';

revoke execute on function uptuple.tell_unknown(bigint[]) from public;
