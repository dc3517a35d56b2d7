-- What an answer means for its channel: open again, paused, suspended, or one transient failure more.
--
-- Suspended: by a refusal that no notice can mend (401, 403, 404, 405, 410, a missing secret), or by five transient failures in a row, so
-- that two minutes without network kill one notice and not two hundred. A pause stands until its end, also if a post that
-- was already under way is accepted meanwhile. The caller holds the channel's lock. Writes channel.
create or replace function uptuple.note_answer(target uptuple.channel, meaning text, said text, http_status integer, wait interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  transient_limit constant integer := 5;
  failures constant integer := target.transient_failures + (meaning = 'RETRY')::integer;
  suspends constant boolean := meaning = 'SUSPENDED' or meaning = 'RETRY' and failures >= transient_limit;
  what constant text := coalesce(case target.kind when 'email' then 'SMTP ' else 'HTTP ' end || http_status || ': ', '') || said;
begin
  if meaning in ('DELIVERED', 'DEAD') then
    -- The receiver answered and judged this one notice: the channel works.
    update uptuple.channel
    set suspended_at = null, suspended_reason = null, probe_at = null, transient_failures = 0,
        last_success_at = case when meaning = 'DELIVERED' then at else channel.last_success_at end,
        last_failure_at = case when meaning = 'DEAD' then at else channel.last_failure_at end,
        last_failure = case when meaning = 'DEAD' then what else channel.last_failure end
    where channel.id = target.id;
    if target.suspended_at is not null then
      notify uptuple_alerts;
    end if;
    return;
  end if;

  update uptuple.channel
  set transient_failures = failures,
      last_failure_at = at,
      last_failure = what,
      paused_until = case
        when meaning = 'PAUSED' then greatest(channel.paused_until, at + coalesce(wait, interval '1 minute'))
        else channel.paused_until
      end,
      suspended_at = case when suspends then coalesce(channel.suspended_at, at) else channel.suspended_at end,
      suspended_reason = case
        when not suspends then channel.suspended_reason
        when meaning = 'SUSPENDED' then what
        else coalesce(channel.suspended_reason, format('%s failures in a row, the last one: %s', failures, what))
      end,
      probe_at = case when suspends then greatest(channel.probe_at, at + interval '5 minutes') else channel.probe_at end
  where channel.id = target.id;
end
$function$;

comment on function uptuple.note_answer(uptuple.channel, text, text, integer, interval) is
  'Opens, pauses or suspends a channel by an answer of its receiver. settle_alert is its caller.';

revoke execute on function uptuple.note_answer(uptuple.channel, text, text, integer, interval) from public;
