-- How long something is kept from now on; null for ever. Returns for how long it was kept before.
--
-- Kinds: jobs (at least 2 days, since they may be claimed that long), results, hours and days (roll-ups), notices (what was sent or
-- discarded). What is coarser is kept at least as long as what it is made of. Takes effect with the next apply_retention; what was dropped
-- does not come back. Race, two callers: rows are locked in one order. For an operator. Writes retention.
create or replace function uptuple.set_retention(kind text, keep interval)
returns interval
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  chain constant text[] := '{jobs,results,hours,days}';
  place constant integer := array_position(chain, kind);
  at_least interval;
  before interval;
  finer record;
  coarser record;
begin
  perform from uptuple.retention order by retention.kind for no key update;
  select retention.keep into before from uptuple.retention where retention.kind = kind;
  if not found then
    raise exception 'kind is %, which nothing is kept as', coalesce(quote_literal(kind), 'null')
      using errcode = 'invalid_parameter_value', hint = 'Use jobs, results, hours, days or notices.';
  end if;
  at_least := case kind when 'jobs' then interval '2 days' when 'notices' then interval '400 days' else interval '0' end;
  if keep < at_least then
    raise exception 'keep is %, and % must be kept for at least %', keep, kind, at_least
      using errcode = 'invalid_parameter_value',
        hint = case kind when 'jobs' then 'Jobs of the last two days may still be claimed.' else 'invariant_violations looks back as far as that.' end;
  end if;

  select retention.kind, retention.keep into finer from uptuple.retention where retention.kind = chain[place - 1];
  if found and keep is not null and (keep >= finer.keep) is not true then
    raise exception 'keep is %, and % must be kept at least as long as % (%)', keep, kind, finer.kind, coalesce(finer.keep::text, 'for ever')
      using errcode = 'invalid_parameter_value', hint = format('Keep %s for a shorter time first.', finer.kind);
  end if;
  select retention.kind, retention.keep into coarser from uptuple.retention where retention.kind = chain[place + 1];
  if found and coarser.keep is not null and (keep <= coarser.keep) is not true then
    raise exception 'keep is %, and % must not be kept longer than % (%)', coalesce(keep::text, 'for ever'), kind, coarser.kind, coarser.keep
      using errcode = 'invalid_parameter_value', hint = format('Keep %s for a longer time first.', coarser.kind);
  end if;

  update uptuple.retention set keep = set_retention.keep where retention.kind = kind;
  return before;
end
$function$;

comment on function uptuple.set_retention(text, interval) is
  'Keep jobs (2 days or longer), results, hours, days or notices (400 days or longer) for that long from now on; null for ever. Returns for '
  'how long it was before. The view kept shows all of them.';

revoke execute on function uptuple.set_retention(text, interval) from public;
grant execute on function uptuple.set_retention(text, interval) to uptuple_operator;
