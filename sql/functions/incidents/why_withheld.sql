-- Why nobody is to be told of an open incident now, or null if somebody is. Its caller holds the lock of the service's state.
--
-- flapping: the service goes up and down, and one notice stands for all. dependency: something that the service depends on, directly or
-- through others, is down, also in its maintenance; or it may be, because it failed last or has not been looked at since the incident began,
-- and there is time for its verdict: a child often fails seconds before its parent. Or it came back, and the service itself has not been
-- looked at since. Waiting for a parent's verdict ends after two minutes.
-- Called by write_notices when an incident opens and by tell_due while it is withheld. Reads only.
create or replace function uptuple.why_withheld(incident_id bigint)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  patience constant interval := interval '2 minutes';
begin
  if exists (
    with recursive ancestor as (
      select service.depends_on as id
      from uptuple.incident
      join uptuple.service on service.id = incident.service_id
      where incident.id = incident_id
      union
      select service.depends_on
      from ancestor
      join uptuple.service on service.id = ancestor.id
    )
    select
    from uptuple.incident
    join uptuple.service_state own on own.service_id = incident.service_id and own.region = incident.region
    join ancestor on ancestor.id is not null
    join uptuple.service parent on parent.id = ancestor.id and parent.enabled
    join uptuple.service_state state on state.service_id = parent.id
    where incident.id = incident_id
      and (
        state.incident_id is not null
        or state.checked_status = 'DOWN' and uptuple.in_maintenance(parent.id, at)
        or incident.opened_at > at - patience
          and (
            state.failure_streak > 0
            or state.last_at < incident.started_at
              and state.verdict_at > at - greatest(patience, make_interval(secs => 3 * parent.interval_seconds))
          )
        or exists (
          select from uptuple.incident over
          where over.service_id = parent.id and over.closed_at > incident.started_at
            and (own.last_at < over.closed_at or own.failure_streak = 0)
        )
      )
  ) then
    return 'dependency';
  end if;
  if exists (
    select
    from uptuple.incident
    join uptuple.service_state state on state.service_id = incident.service_id and state.region = incident.region
    where incident.id = incident_id and state.flapping_id is not null
  ) then
    return 'flapping';
  end if;
  return null;
end
$function$;

comment on function uptuple.why_withheld(bigint) is 'Why nobody is to be told of an open incident now (dependency or flapping), or null.';

revoke execute on function uptuple.why_withheld(bigint) from public;
