-- How often a channel is reminded of a failure that nobody has acknowledged; null for never, which is the default.
--
-- Also of incidents that are open now. Holds the channel table, so that tell_due sees it or looks again. Writes channel and incident.
create or replace function uptuple.set_reminders(channel text, every interval)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  target uptuple.channel;
begin
  if (every between interval '1 minute' and interval '7 days') is false then
    raise exception 'every is %, and must be between 1 minute and 7 days', every
      using errcode = 'invalid_parameter_value', hint = 'Give null for no reminders.';
  end if;
  lock table uptuple.channel in exclusive mode;
  target := uptuple.find_channel(channel);
  update uptuple.channel changed
  set remind_every = every, updated_at = clock_timestamp()
  where changed.id = target.id;
  perform uptuple.look_again();
end
$function$;

comment on function uptuple.set_reminders(text, interval) is
  'Remind a channel every so often (1 minute to 7 days) of a failure that it was told and that nobody has acknowledged; null: never.';

revoke execute on function uptuple.set_reminders(text, interval) from public;
grant execute on function uptuple.set_reminders(text, interval) to uptuple_operator;
