-- Everything that the page of one incident shows: what failed, the checks from the first failure to the recovery, who was told what and when,
-- who looks after it, and what people wrote. Null if there is no such incident.
--
-- Of the checks the first 50 and the last 50, by the key of the window, as long as results are kept. A record by hand may
-- lie in the second before, in which it arrived. Reads only.
create or replace function uptuple.incident_page(incident_id bigint)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  shown uptuple.incident;
  first_second bigint;
  last_second bigint;
begin
  select known.* into shown from uptuple.incident known where known.id = incident_id;
  if not found then
    return null;
  end if;
  first_second := floor(extract(epoch from shown.started_at));
  last_second := ceil(extract(epoch from coalesce(shown.closed_at, at)));

  return (
    select jsonb_build_object(
      'now', at,
      'incident_id', shown.id,
      'service', service.name,
      'removed', service.removed_at is not null,
      'region', shown.region,
      'started_at', shown.started_at,
      'opened_at', shown.opened_at,
      'closed_at', shown.closed_at,
      'closed_by', shown.closed_by,
      'code', shown.code,
      'reason', shown.reason,
      'withheld_because', shown.withheld_because,
      'acknowledged_at', shown.acknowledged_at,
      'acknowledged_by', shown.acknowledged_by,
      'acknowledged_note', shown.acknowledged_note,
      'checks', (
        select coalesce(jsonb_agg(to_jsonb(made) order by made.recorded_at, made.scheduled_slot), '[]')
        from (
          (
            select result.scheduled_slot, result.recorded_at, result.purpose, result.status, result.code, result.reason, result.latency_ms, result.worker
            from uptuple.result
            where result.service_id = shown.service_id and result.region = shown.region
              and result.scheduled_slot between first_second - 1 and last_second
              and (result.scheduled_slot >= first_second or result.purpose = 'MANUAL' and result.recorded_at >= shown.started_at)
            order by result.scheduled_slot
            limit 50
          )
          union
          (
            select result.scheduled_slot, result.recorded_at, result.purpose, result.status, result.code, result.reason, result.latency_ms, result.worker
            from uptuple.result
            where result.service_id = shown.service_id and result.region = shown.region
              and result.scheduled_slot between first_second - 1 and last_second
              and (result.scheduled_slot >= first_second or result.purpose = 'MANUAL' and result.recorded_at >= shown.started_at)
            order by result.scheduled_slot desc
            limit 50
          )
        ) made
      ),
      'notices', uptuple.incident_notices(shown.id),
      'updates', (
        select coalesce(jsonb_agg(
          jsonb_build_object(
            'update_id', written.id, 'status', written.status, 'body', written.body, 'public', written.public, 'posted_at', written.posted_at,
            'posted_by', written.posted_by, 'changed_at', written.changed_at
          )
          order by written.posted_at, written.id
        ), '[]')
        from uptuple.incident_update written
        where written.incident_id = shown.id
      )
    )
    from uptuple.service
    where service.id = shown.service_id
  );
end
$function$;

comment on function uptuple.incident_page(bigint) is
  'What the page of one incident shows, as JSON: its checks, notices with all attempts, acknowledgement, and what people wrote. Null if there is none.';

revoke execute on function uptuple.incident_page(bigint) from public;
grant execute on function uptuple.incident_page(bigint) to uptuple_worker, uptuple_operator, uptuple_viewer;
