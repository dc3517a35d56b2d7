-- Have tell_due look at all open incidents soon: a setting has changed.
--
-- What others hold is skipped: it is being closed, acknowledged or looked at, and whoever does so may wait for the channel table, which the
-- caller holds. Called by whoever changes routes, channels or dependencies. Writes incident.
create or replace function uptuple.look_again()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
begin
  with free as materialized (
    select incident.id
    from uptuple.incident
    where incident.closed_at is null
    order by incident.id
    for no key update skip locked
  )
  update uptuple.incident
  set look_at = clock_timestamp()
  from free
  where incident.id = free.id;
end
$function$;

comment on function uptuple.look_again() is 'Has tell_due look at all open incidents soon.';

revoke execute on function uptuple.look_again() from public;
