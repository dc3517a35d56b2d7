-- Correct what was written about an incident; what is left out stays.
--
-- It keeps its place and its id in feeds, where it shows as changed. Writes incident_update.
create or replace function uptuple.change_update(
  update_id bigint,
  body text default null,
  status text default null,
  public boolean default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  status := lower(status);
  body := uptuple.printable(body, 20001);
  perform uptuple.check_update(status, body);
  update uptuple.incident_update changed
  set body = coalesce(body, changed.body),
      status = coalesce(status, changed.status),
      public = coalesce(public, changed.public),
      changed_at = clock_timestamp()
  where changed.id = update_id;
  if not found then
    raise exception 'there is no update %', coalesce(update_id::text, 'null')
      using errcode = 'UT001', hint = 'post_update returned its id; the page of the incident shows it.';
  end if;
end
$function$;

comment on function uptuple.change_update(bigint, text, text, boolean) is
  'Correct an update of an incident; what is left out stays. public => false takes it off the status pages and feeds.';

revoke execute on function uptuple.change_update(bigint, text, text, boolean) from public;
grant execute on function uptuple.change_update(bigint, text, text, boolean) to uptuple_operator;
