-- Keep the certificates that services showed, and tell in time that one is about to end: at 21, 14, 7, 3 and 1 days, once each.
--
-- A certificate is known by its fingerprint, and the notices of each have keys of their own: a renewed one starts anew, and two that take turns
-- behind a balancer are told of once each and not at every turn. Days that were jumped over are not told, only the tightest. An
-- INCONCLUSIVE check proves nothing about whose certificate it saw, and a disabled service is left alone.
-- Called by record_results, which holds the locks of the states and gives their ctids in the order of the records. Writes
-- service_certificate; through write_events event and delivery.
--
-- Nearly always nothing changed: one look by key for each certificate, and no date is even read. That its service is enabled is read
-- beside the state.
create or replace function uptuple.note_certificates(records uptuple.health_record[], state_rows tid[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $function$
#variable_conflict use_column
declare
  at constant timestamptz := clock_timestamp();
  seen record;
  expires timestamptz;
  days_left integer;
  due_days integer;
  next_days integer;
  key text;
  notices uptuple.notice[] := '{}';
begin
  for seen in
    select given.service_id, given.region, given.revision, given.detail -> 'certificate' as certificate,
      uptuple.printable(coalesce(given.detail #>> '{certificate,fingerprint256}', given.detail #>> '{certificate,not_after}'), 200) as fingerprint
    from unnest(records) with ordinality given
    cross join lateral (select state.enabled from uptuple.service_state state where state.ctid = state_rows[given.ordinality] offset 0) state
    left join lateral (
      select known.fingerprint, known.revision, known.next_notice_at
      from uptuple.service_certificate known
      where known.service_id = given.service_id and known.region = given.region
      offset 0
    ) known on true
    where given.detail ? 'certificate'
      and given.status <> 'INCONCLUSIVE'
      and state.enabled
      and (
        known.fingerprint is distinct from coalesce(given.detail #>> '{certificate,fingerprint256}', given.detail #>> '{certificate,not_after}')
        or known.revision <> given.revision
        or known.next_notice_at <= at
      )
    order by given.service_id, given.region, given.scheduled_slot
  loop
    expires := uptuple.reported_time(seen.certificate ->> 'not_after');
    continue when expires is null;
    days_left := floor(extract(epoch from expires - at) / 86400);
    select min(days) filter (where days >= days_left) into due_days from unnest(uptuple.certificate_notice_days()) days;
    select max(days) into next_days from unnest(uptuple.certificate_notice_days()) days where due_days is null or days < due_days;

    insert into uptuple.service_certificate as known
      (service_id, region, fingerprint, not_after, subject, issuer, names, revision, first_seen_at, next_notice_at)
    values (
      seen.service_id, seen.region, seen.fingerprint, expires, uptuple.printable(seen.certificate ->> 'subject', 300),
      uptuple.printable(seen.certificate ->> 'issuer', 300),
      array(select uptuple.printable(name #>> '{}', 300) from jsonb_path_query(seen.certificate, 'lax $.names[*]') name limit 100),
      seen.revision, at,
      -- Whole days are counted down: n are left from n + 1 days before the end.
      expires - make_interval(hours => 24 * (next_days + 1))
    )
    on conflict on constraint service_certificate_pkey do update
    set fingerprint = excluded.fingerprint,
        not_after = excluded.not_after,
        subject = excluded.subject,
        issuer = excluded.issuer,
        names = excluded.names,
        revision = excluded.revision,
        first_seen_at = case when known.fingerprint = excluded.fingerprint then known.first_seen_at else excluded.first_seen_at end,
        next_notice_at = excluded.next_notice_at;

    key := format('certificate:%s:%s:%s:%s', seen.service_id, seen.region, due_days, seen.fingerprint);
    continue when due_days is null
      or exists (select from uptuple.event where event.dedupe_key = key)
      or exists (select from unnest(notices) told where told.dedupe_key = key);
    notices := notices || (
      'certificate.expiring', case when days_left <= 3 then 'critical' else 'warning' end, seen.service_id, seen.region, null, key, at, null,
      jsonb_build_object(
        'reason', case
          when expires <= at then format('its certificate ended on %s', uptuple.iso_time(expires))
          when days_left = 1 then 'its certificate ends in 1 day'
          else format('its certificate ends in %s days', days_left)
        end,
        'days_left', days_left,
        'notice_days', due_days,
        'not_after', uptuple.iso_time(expires),
        'subject', uptuple.printable(seen.certificate ->> 'subject', 300),
        'issuer', uptuple.printable(seen.certificate ->> 'issuer', 300)
      )
    )::uptuple.notice;
  end loop;

  if notices <> '{}' then
    -- Of others in the batch there may be notices later.
    perform uptuple.lock_outbox(array(select distinct given.service_id from unnest(records) given));
    perform uptuple.write_events(notices);
  end if;
end
$function$;

comment on function uptuple.note_certificates(uptuple.health_record[], tid[]) is
  'Keeps the certificates that checks saw, and writes certificate.expiring at 21, 14, 7, 3 and 1 days before the end of each, once each.';

revoke execute on function uptuple.note_certificates(uptuple.health_record[], tid[]) from public;
