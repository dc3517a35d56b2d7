-- The request that tells a receiver of Alertmanager's webhooks of an event, in version 4 of its format: one group with one alert.
--
-- What opens and what ends a trouble have the same labels and the same fingerprint, as Alertmanager's have. Reads setting. Called by
-- notice_request.
create or replace function uptuple.render_alertmanager(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return (
  with alert as (
    select
      case when uptuple.notice_resolves(event) then 'resolved' else 'firing' end as status,
      jsonb_strip_nulls(jsonb_build_object(
        'alertname', case uptuple.notice_subject(event)
          when 'down' then 'ServiceDown'
          when 'degraded' then 'ServiceDegraded'
          when 'flapping' then 'ServiceFlapping'
          when 'unknown' then 'ServiceUnknown'
          when 'certificate' then 'CertificateExpiring'
          when 'worker' then 'WorkerQuarantined'
          when 'deliveries' then 'DeliveriesDead'
          when 'test' then 'Test'
          else event.kind
        end,
        'service', event.data ->> 'service',
        'group', event.data ->> 'group',
        'region', event.data ->> 'region',
        'worker', event.data ->> 'worker',
        'severity', case
          when uptuple.notice_subject(event) in ('down', 'flapping') then 'critical'
          when uptuple.notice_resolves(event) then 'warning'
          else event.severity
        end
      )) as labels,
      jsonb_strip_nulls(jsonb_build_object(
        'summary', uptuple.notice_title(event),
        'description', nullif(uptuple.notice_text(event), '')
      )) as annotations,
      coalesce(uptuple.notice_url(event), '') as url
  )
  select uptuple.json_request(
    event, channel, channel.url,
    json_build_object(
      'version', '4',
      'groupKey', uptuple.notice_key(event),
      'truncatedAlerts', 0,
      'status', alert.status,
      'receiver', coalesce(channel.options ->> 'receiver', channel.name),
      'groupLabels', jsonb_build_object('alertname', alert.labels -> 'alertname'),
      'commonLabels', alert.labels,
      'commonAnnotations', alert.annotations,
      'externalURL', alert.url,
      'alerts', json_build_array(json_build_object(
        'status', alert.status,
        'labels', alert.labels,
        'annotations', alert.annotations,
        'startsAt', coalesce(
          event.data ->> 'failing_since', event.data ->> 'flapping_since', event.data ->> 'unknown_since', uptuple.iso_time(event.occurred_at)
        ),
        'endsAt', case alert.status when 'resolved' then uptuple.iso_time(event.occurred_at) else '0001-01-01T00:00:00Z' end,
        'generatorURL', alert.url,
        'fingerprint', left(md5(uptuple.notice_key(event)), 16)
      ))
    )
  )
  from alert
);

comment on function uptuple.render_alertmanager(uptuple.event, uptuple.channel) is
  'The request that tells a receiver of Alertmanager webhooks (version 4) of an event.';

revoke execute on function uptuple.render_alertmanager(uptuple.event, uptuple.channel) from public;
