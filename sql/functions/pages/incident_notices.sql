-- The notices of an incident, oldest first, each with its deliveries, and of each delivery every attempt with its answer. Reads only.
create or replace function uptuple.incident_notices(incident_id bigint)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $function$
  select coalesce(jsonb_agg(to_jsonb(notice) order by notice.number), '[]')
  from (
    select event.id as number, event.kind, event.occurred_at, sent.deliveries
    from uptuple.event
    cross join lateral (
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'channel', channel.name, 'state', delivery.state, 'note', delivery.note, 'finished_at', delivery.finished_at,
          'attempts', (
            select coalesce(jsonb_agg(
              jsonb_build_object(
                'finished_at', attempt.finished_at, 'outcome', attempt.outcome, 'status', attempt.status,
                'latency_ms', attempt.latency_ms, 'answer', attempt.answer
              )
              order by attempt.id
            ), '[]')
            from uptuple.delivery_attempt attempt
            where attempt.delivery_id = delivery.id
          )
        )
        order by channel.name
      ), '[]') as deliveries
      from uptuple.delivery
      join uptuple.channel on channel.id = delivery.channel_id
      where delivery.event_number = event.id
    ) sent
    where event.incident_id = $1
    order by event.id desc
    limit 20
  ) notice;
$function$;

comment on function uptuple.incident_notices(bigint) is 'The last 20 notices of an incident as JSON, with their deliveries and all attempts.';

revoke execute on function uptuple.incident_notices(bigint) from public;
