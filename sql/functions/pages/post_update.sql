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
  status := lower(status);
  if (status in ('investigating', 'identified', 'monitoring', 'resolved', 'postmortem')) is not true then
    raise exception 'status is %, and cannot be that', coalesce(quote_literal(status), 'null')
      using errcode = 'invalid_parameter_value', hint = 'Use investigating, identified, monitoring, resolved or postmortem.';
  end if;
  body := uptuple.printable(body, 20001);
  if (body ~ '\S' and length(body) <= 20000) is not true then
    raise exception 'body has % characters', coalesce(length(body), 0)
      using errcode = 'invalid_parameter_value', hint = 'Write 1 to 20000 characters; an empty line starts a new paragraph.';
  end if;
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
