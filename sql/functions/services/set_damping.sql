-- Whether one notice stands for all while a service keeps going up and down, which is the default.
--
-- Switched off, one that flaps now counts as stable, and what of it is down is announced. Writes service, service_state, and
-- through close_flapping the rest.
create or replace function uptuple.set_damping(service text, damping boolean)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  watched uptuple.service;
begin
  if damping is null then
    raise exception 'damping is null' using errcode = 'invalid_parameter_value', hint = 'Give true or false.';
  end if;
  watched := uptuple.find_service(service);
  update uptuple.service changed set damping = set_damping.damping, updated_at = clock_timestamp() where changed.id = watched.id;
  perform uptuple.note_rules(watched.id);
  if damping then
    return;
  end if;
  perform 1 from uptuple.service_state state
  where state.service_id = watched.id
  order by state.service_id, state.region
  for no key update;
  perform uptuple.close_flapping(
    array(select flapping.id from uptuple.flapping where flapping.service_id = watched.id and flapping.closed_at is null),
    'damping was switched off'
  );
end
$function$;

comment on function uptuple.set_damping(text, boolean) is
  'Whether one notice stands for all (service.flapping, then service.stable) while a service keeps going up and down: more than six incidents '
  'opened and closed within 30 minutes, or half of its last 20 checks DOWN without an incident. On by default.';

revoke execute on function uptuple.set_damping(text, boolean) from public;
grant execute on function uptuple.set_damping(text, boolean) to uptuple_operator;
