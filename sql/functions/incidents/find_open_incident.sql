-- The open incident of a service, or the one of that id, locked with its service's state; an error if there is none.
--
-- UT001: there is no such service or incident. UT002: it is over, or nothing is wrong. Called by acknowledge and unacknowledge.
create or replace function uptuple.find_open_incident(service text, incident_id bigint)
returns uptuple.incident
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  found_incident uptuple.incident;
  watched_id bigint;
begin
  if (service is null) = (incident_id is null) then
    raise exception 'give either service or incident_id'
      using errcode = 'invalid_parameter_value', hint = 'select incident_id, service from uptuple.incidents lists the incidents.';
  end if;
  if service is not null then
    select known.id into watched_id from uptuple.service known where known.name = service and known.removed_at is null;
  else
    select known.service_id into watched_id from uptuple.incident known where known.id = incident_id;
  end if;
  if watched_id is null then
    raise exception 'there is no % %', case when service is null then 'incident' else 'service named' end,
        coalesce(quote_literal(service), incident_id::text)
      using errcode = 'UT001', hint = 'select incident_id, service from uptuple.incidents lists the incidents.';
  end if;

  perform 1 from uptuple.service_state state
  where state.service_id = watched_id
  order by state.service_id, state.region
  for no key update;
  select known.* into found_incident
  from uptuple.incident known
  where known.service_id = watched_id and known.closed_at is null and coalesce(known.id = incident_id, true)
  for no key update;
  if not found then
    raise exception '%', case when service is null then format('incident %s is over', incident_id) else format('%L has no open incident', service) end
      using errcode = 'UT002', hint = 'Nothing was changed.';
  end if;
  return found_incident;
end
$function$;

comment on function uptuple.find_open_incident(text, bigint) is
  'The open incident of a service, or of that id, locked with the state; UT001 if there is no such service or incident, UT002 if it is over.';

revoke execute on function uptuple.find_open_incident(text, bigint) from public;
