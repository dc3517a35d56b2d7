-- Refuses what cannot be written about an incident: an unknown status, or a text that is empty or too long. Each error names the argument and
-- the cure; null is left to the caller. Reads nothing. Called by post_update and change_update.
create or replace function uptuple.check_update(status text, body text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if status not in ('investigating', 'identified', 'monitoring', 'resolved', 'postmortem') then
    raise exception 'status is %, and cannot be that', quote_literal(status)
      using errcode = 'invalid_parameter_value', hint = 'Use investigating, identified, monitoring, resolved or postmortem.';
  end if;
  if body !~ '\S' or length(body) > 20000 then
    raise exception 'body has % characters', length(body)
      using errcode = 'invalid_parameter_value', hint = 'Write 1 to 20000 characters; an empty line starts a new paragraph.';
  end if;
end
$function$;

comment on function uptuple.check_update(text, text) is 'Refuses what cannot be written about an incident, with an error that names the argument.';

revoke execute on function uptuple.check_update(text, text) from public;
