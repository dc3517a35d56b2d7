-- The ids of dead notices: of a channel, of a cause as dead_letter_causes counts them, or all; the oldest first, at most 1000.
--
-- Reads delivery. Called by requeue_alerts and discard_alerts, which lock the rows and look again.
create or replace function uptuple.dead_alerts(channel text, cause text)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  only_channel bigint;
begin
  if channel is not null then
    only_channel := (uptuple.find_channel(channel)).id;
  end if;
  return array(
    select delivery.id
    from uptuple.delivery
    join uptuple.channel owner on owner.id = delivery.channel_id
    where delivery.state = 'DEAD'
      and owner.removed_at is null
      and (only_channel is null or delivery.channel_id = only_channel)
      and (cause is null or coalesce(delivery.last_cause, 'HTTP ' || delivery.last_status, 'no answer') = cause)
    order by delivery.finished_at, delivery.id
    limit 1000
  );
end
$function$;

comment on function uptuple.dead_alerts(text, text) is 'The ids of dead notices of a channel, of a cause, or all; at most 1000.';

revoke execute on function uptuple.dead_alerts(text, text) from public;
