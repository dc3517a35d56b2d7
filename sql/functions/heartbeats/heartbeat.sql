-- A service says that it is well, that a run of it starts, or that one has failed. By name, for whoever is in psql or in this database's jobs.
--
-- event: success, start or fail; a non-zero exit_code is a failure. The reason is kept with a failure. Writes through take_beat.
create or replace function uptuple.heartbeat(
  service text,
  event text default 'success',
  reason text default null,
  exit_code integer default null
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  watched record;
begin
  if (event in ('success', 'start', 'fail')) is not true then
    raise exception 'event is %, which a heartbeat does not have', quote_nullable(left(event, 100))
      using errcode = 'invalid_parameter_value', hint = 'Use success, start or fail.';
  end if;
  if exit_code not between 0 and 255 then
    raise exception 'exit_code is %, and must be between 0 and 255', exit_code
      using errcode = 'invalid_parameter_value', hint = '0 is success, anything else a failure.';
  end if;
  select named.id, named.probed into watched
  from uptuple.service named
  where named.name = service and named.removed_at is null;
  if not found then
    raise exception 'there is no service named %', quote_nullable(service)
      using errcode = 'UT001', hint = 'select service from uptuple.heartbeats lists those that report by themselves.';
  end if;
  if watched.probed then
    raise exception 'the service % is probed, and does not report by itself', quote_literal(service)
      using errcode = 'UT002', hint = 'Add a service with the url ''heartbeat:'', or use record_health.';
  end if;
  return uptuple.take_beat(watched.id, event, exit_code, reason);
end
$function$;

comment on function uptuple.heartbeat(text, text, text, integer) is
  'A service that reports by itself says success (the default), start or fail, with a reason, or how it ended by exit_code. '
  'Answers its status, or PAUSED while it is disabled. UT003: it changes more often than once a second.';

revoke execute on function uptuple.heartbeat(text, text, text, integer) from public;
grant execute on function uptuple.heartbeat(text, text, text, integer) to uptuple_worker, uptuple_operator;
