-- Say what a service depends on, by name: while that is down, the failures of this one are not announced. Null: nothing.
--
-- A circle is refused (UT002). Race, two that would close a circle together: each locks the table of services against the other. What is
-- withheld now is looked at again. Writes service and incident.
create or replace function uptuple.depends_on(service text, parent text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  child_id bigint;
  parent_id bigint;
begin
  lock table uptuple.service in share row exclusive mode;
  child_id := (uptuple.find_service(service)).id;
  if parent is not null then
    parent_id := (uptuple.find_service(parent)).id;
  end if;
  if exists (
    with recursive ancestor as (
      select parent_id as id
      union
      select known.depends_on from ancestor join uptuple.service known on known.id = ancestor.id
    )
    select from ancestor where ancestor.id = child_id
  ) then
    raise exception '% cannot depend on %, which depends on it', quote_literal(service), quote_literal(parent)
      using errcode = 'UT002', hint = 'select service, depends_on from uptuple.dependencies shows what depends on what.';
  end if;

  update uptuple.service changed
  set depends_on = parent_id, updated_at = clock_timestamp()
  where changed.id = child_id;
  perform uptuple.look_again();
end
$function$;

comment on function uptuple.depends_on(text, text) is
  'Say that a service depends on another: while that one is down, failures of this one are not announced, and are if it is still down when '
  'that one is back. A null parent: it depends on nothing.';

revoke execute on function uptuple.depends_on(text, text) from public;
grant execute on function uptuple.depends_on(text, text) to uptuple_operator;
