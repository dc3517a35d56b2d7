-- Tell that services have verdicts again, to those who were told that they had none. Of those that were disabled meanwhile nothing is told.
--
-- What was told together is told together, once all but five are back, naming these; they are told one by one. A notice that still waits to tell
-- of the silence is superseded, so that it does not come after its end. The caller holds the locks of the states. Called by tell_silence.
-- Writes service_state, event and delivery. Returns how many notices it wrote.
create or replace function uptuple.tell_known(service_ids bigint[])
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  late constant integer := 5;
  notices uptuple.notice[];
  recipients uptuple.recipient[];
begin
  if service_ids = '{}' then
    return 0;
  end if;
  with back as materialized (
    select state.service_id, state.region, service.enabled, event.id as event_id, event.dedupe_key, event.service_id is null as is_together,
      exists (
        select from uptuple.event told where told.dedupe_key = replace(event.dedupe_key, 'service.unknown', 'service.known')
      ) as is_told,
      event.occurred_at, (event.data ->> 'count')::integer as count
    from uptuple.service_state state
    join uptuple.service on service.id = state.service_id
    join uptuple.event on event.id = state.unknown_event
    where state.service_id = any (service_ids)
  ),
  known as (
    update uptuple.service_state state
    set unknown_event = null
    from back
    where state.service_id = back.service_id and state.region = back.region
  ),
  ended as materialized (
    select together.*
    from (
      select back.event_id, back.dedupe_key, back.occurred_at, back.count,
        (
          select array_agg(service.name order by service.name)
          from uptuple.service_state state
          join uptuple.service on service.id = state.service_id and service.enabled
          where state.unknown_event = back.event_id and state.service_id <> all (service_ids)
        ) as still_unknown
      from back
      where back.is_together and not back.is_told
      group by back.event_id, back.dedupe_key, back.occurred_at, back.count
    ) together
    where coalesce(cardinality(together.still_unknown), 0) <= late
  ),
  late_one as materialized (
    select back.service_id, back.region, back.event_id, back.occurred_at,
      format('service:%s:%s:service.known:%s', back.service_id, back.region, back.event_id) as dedupe_key
    from back
    where back.is_together and back.is_told and back.enabled
      and exists (select from uptuple.delivery where delivery.event_number = back.event_id and delivery.state <> 'SUPERSEDED')
  ),
  superseded as (
    update uptuple.delivery
    set state = 'SUPERSEDED', finished_at = at, note = 'there were verdicts again before it could be sent'
    from ended
    where delivery.event_number = ended.event_id and ended.still_unknown is null and delivery.state = 'READY'
  ),
  told as (
    select null::bigint as service_id, null::text as region, replace(ended.dedupe_key, 'service.unknown', 'service.known') as dedupe_key,
      ended.occurred_at, ended.count - coalesce(cardinality(ended.still_unknown), 0) as count,
      'there are verdicts again' || coalesce(', but not yet of ' || array_to_string(ended.still_unknown, ', '), '') as reason,
      to_jsonb(ended.still_unknown) as still_unknown
    from ended
    union all
    select back.service_id, back.region, replace(back.dedupe_key, 'service.unknown', 'service.known'), back.occurred_at,
      null, 'it has verdicts again', null
    from back
    where not back.is_together and back.enabled
    union all
    select late_one.service_id, late_one.region, late_one.dedupe_key, late_one.occurred_at, null, 'it has verdicts again', null
    from late_one
  )
  select
    (
      select array_agg(
        (
          'service.known', 'info', told.service_id, told.region, null, told.dedupe_key, at, null,
          jsonb_build_object(
            'count', told.count,
            'reason', told.reason,
            'still_unknown', told.still_unknown,
            'unknown_since', uptuple.iso_time(told.occurred_at),
            'unknown_seconds', round(extract(epoch from at - told.occurred_at), 3)
          )
        )::uptuple.notice
        order by told.service_id nulls first
      )
      from told
    ),
    (
      select array_agg((late_one.dedupe_key, delivery.channel_id)::uptuple.recipient)
      from late_one
      join uptuple.delivery on delivery.event_number = late_one.event_id and delivery.state <> 'SUPERSEDED'
    )
  into notices, recipients;

  if notices is null then
    return 0;
  end if;
  perform uptuple.write_events(notices, coalesce(recipients, '{}'));
  return cardinality(notices);
end
$function$;

comment on function uptuple.tell_known(bigint[]) is 'Tells that services have verdicts again. Returns how many notices it wrote.';

revoke execute on function uptuple.tell_known(bigint[]) from public;
