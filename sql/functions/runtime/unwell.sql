-- Why the monitor does not vouch for itself right now, or null if it does.
--
-- It does if some runtime completed a check within two minutes and nothing is overdue, suspended or dead. Who watches the watcher calls
-- UPTUPLE_HEARTBEAT_URL no other way. Reads worker, job, channel, delivery.
create or replace function uptuple.unwell()
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select case
    when not exists (
      select from uptuple.worker
      where completed_at between clock_timestamp() - interval '2 minutes' and clock_timestamp() + interval '2 minutes'
    )
    then 'no check was completed within two minutes'
    when uptuple.overdue(interval '30 s')
    then 'a job has been due for more than 30 seconds'
    when exists (select from uptuple.channel where suspended_at is not null and enabled)
    then 'a channel is suspended'
    when exists (select from uptuple.delivery where state = 'DEAD')
    then 'a notice is dead'
  end;
$function$;

comment on function uptuple.unwell() is
  'Why the monitor does not vouch for itself, or null if it does: a check was completed within two minutes, nothing is overdue, suspended or dead.';

revoke execute on function uptuple.unwell() from public;
grant execute on function uptuple.unwell() to uptuple_worker, uptuple_operator, uptuple_viewer;
