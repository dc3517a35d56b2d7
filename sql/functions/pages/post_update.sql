-- Write what people should know about an incident. Returns the update's id. Writes incident_update.
--
-- resolved says so and closes nothing: an incident ends when its service is back. A postmortem may come any time later.
create or replace function uptuple.post_update(
  incident_id bigint,
  status text,
  body text,
  public boolean default true
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  new_id bigint;
begin
  status := lower(coalesce(status, ''));
  body := uptuple.printable(coalesce(body, ''), 20001);
  perform uptuple.check_update(status, body);
  if not exists (select from uptuple.incident where incident.id = incident_id) then
    raise exception 'there is no incident %', coalesce(incident_id::text, 'null')
      using errcode = 'UT001', hint = 'select incident_id, service, started_at from uptuple.incidents;';
  end if;
  insert into uptuple.incident_update (incident_id, status, body, public)
  values (incident_id, status, body, coalesce(public, true))
  returning incident_update.id into new_id;
  return new_id;
end
$function$;

comment on function uptuple.post_update(bigint, text, text, boolean) is
  'Write about an incident: status is investigating, identified, monitoring, resolved or postmortem. Shown on the incident''s page, and unless '
  'public => false on status pages and in feeds. Returns the update''s id.';

revoke execute on function uptuple.post_update(bigint, text, text, boolean) from public;
grant execute on function uptuple.post_update(bigint, text, text, boolean) to uptuple_operator;
