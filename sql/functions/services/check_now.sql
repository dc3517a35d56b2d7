-- Ask for a check of a service now, outside its grid. Returns the job that will make it.
--
-- At most one a second: a second call in the same second gets the first one's job, and a second in which a window starts is that
-- window's job. A DOWN from it is stored but does not extend a streak. Writes job and wakes the runtimes.
create or replace function uptuple.check_now(name text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  service constant uptuple.service := uptuple.find_service(name);
begin
  if not service.enabled then
    raise exception 'the service % is disabled', quote_literal(name)
      using errcode = 'UT002', hint = 'select uptuple.enable_service(...) first.';
  end if;
  if not service.probed then
    raise exception 'the service % is a heartbeat, which nobody probes', quote_literal(name)
      using errcode = 'UT002', hint = 'It reports by itself: select uptuple.heartbeat(...).';
  end if;
  return uptuple.enqueue_request(service.id, 'REQUEST');
end
$function$;

comment on function uptuple.check_now(text) is
  'Check a service now, outside its grid. Returns the id of the job: one a second at most, so a second call may get the same one.';

revoke execute on function uptuple.check_now(text) from public;
grant execute on function uptuple.check_now(text) to uptuple_operator;
