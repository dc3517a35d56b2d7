-- Say once that services go up and down, and be quiet about them until they are stable.
--
-- The caller holds the locks of the states; none of the services has an incident that was announced and is open, so that no FAILED is left
-- without its RECOVERED. Called by damp_flips and note_verdicts. Writes flapping, service_state, event and delivery.
create or replace function uptuple.open_flapping(service_ids bigint[], regions text[], reasons text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  at constant timestamptz := clock_timestamp();
  notices uptuple.notice[];
begin
  if coalesce(service_ids, '{}') = '{}' then
    return;
  end if;
  with opened as (
    insert into uptuple.flapping (service_id, region, opened_at, reason)
    select given.service_id, given.region, at, given.reason
    from unnest(service_ids, regions, reasons) given (service_id, region, reason)
    order by given.service_id, given.region
    returning flapping.*
  ),
  noted as (
    update uptuple.service_state state
    set flapping_id = opened.id
    from opened
    where state.service_id = opened.service_id and state.region = opened.region
    returning state.service_id, state.region, state.checked_code
  )
  select array_agg(
    (
      'service.flapping', 'critical', opened.service_id, opened.region, null, format('flapping:%s:service.flapping', opened.id), at, null,
      jsonb_build_object('flapping_id', opened.id, 'reason', opened.reason, 'code', noted.checked_code)
    )::uptuple.notice
    order by opened.service_id, opened.region
  )
  into notices
  from opened
  join noted on noted.service_id = opened.service_id and noted.region = opened.region;

  perform uptuple.write_events(notices);
end
$function$;

comment on function uptuple.open_flapping(bigint[], text[], text[]) is 'Tells that services go up and down, and withholds their incidents from now on.';

revoke execute on function uptuple.open_flapping(bigint[], text[], text[]) from public;
