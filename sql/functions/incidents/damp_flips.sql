-- Of incidents that have just opened: if their service went up and down too often, one notice that it flaps stands for this and what follows.
--
-- More than six openings and closings within half an hour, this one included. Not for what a dependency keeps quiet, nor where damping is
-- off. The caller holds the locks of the states. Called by write_notices. Writes flapping, and through open_flapping the rest.
create or replace function uptuple.damp_flips(incident_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  flips_allowed constant integer := 6;
  horizon constant timestamptz := clock_timestamp() - interval '30 minutes';
  service_ids bigint[];
  regions text[];
  reasons text[];
begin
  select array_agg(flipped.service_id), array_agg(flipped.region), array_agg(format('it went up and down %s times within 30 minutes', flipped.flips))
  into service_ids, regions, reasons
  from (
    select incident.service_id, incident.region, latest.flips
    from uptuple.incident
    join uptuple.service_state state
      on state.service_id = incident.service_id and state.region = incident.region and state.damping and state.flapping_id is null
    cross join lateral (
      select count(*) filter (where recent.opened_at > horizon) + count(*) filter (where recent.closed_at > horizon) as flips
      from (
        select earlier.opened_at, earlier.closed_at
        from uptuple.incident earlier
        where earlier.service_id = incident.service_id and earlier.region = incident.region
        order by earlier.opened_at desc
        limit flips_allowed
      ) recent
    ) latest
    where incident.id = any (incident_ids)
      and case when latest.flips > flips_allowed then uptuple.why_withheld(incident.id) is null end
  ) flipped;
  perform uptuple.open_flapping(service_ids, regions, reasons);
end
$function$;

comment on function uptuple.damp_flips(bigint[]) is 'Begins to be quiet about services whose incidents open and close too often.';

revoke execute on function uptuple.damp_flips(bigint[]) from public;
