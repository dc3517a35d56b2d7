-- Within how long failures, and recoveries, are told to a channel in one digest; zero for each by itself, null for as its kind has it.
--
-- The first two go at once in any case. For what happens from now on. Writes channel.
create or replace function uptuple.set_grouping(channel text, within interval)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  target uptuple.channel;
begin
  if (within between interval '0' and interval '5 minutes') is false then
    raise exception 'within is %, and must be between 0 and 5 minutes', within
      using errcode = 'invalid_parameter_value', hint = 'Zero: each failure by itself. Null: as the kind of the channel has it.';
  end if;
  lock table uptuple.channel in exclusive mode;
  target := uptuple.find_channel(channel);
  if within > interval '0' and target.kind in ('pagerduty', 'opsgenie', 'alertmanager') then
    raise exception 'the channel % is of the kind %, which keeps count of incidents', quote_literal(channel), target.kind
      using errcode = 'UT002', hint = 'A digest would open an alert there that nothing closes, and leave recoveries without what they close.';
  end if;
  update uptuple.channel changed
  set group_seconds = extract(epoch from within), updated_at = clock_timestamp()
  where changed.id = target.id;
end
$function$;

comment on function uptuple.set_grouping(text, interval) is
  'Tell a channel of failures, and recoveries, that come within so long of two others in one digest. Zero: each by itself. Null: the default of its kind, 5 seconds '
  'where people read and zero where programs do.';

revoke execute on function uptuple.set_grouping(text, interval) from public;
grant execute on function uptuple.set_grouping(text, interval) to uptuple_operator;
