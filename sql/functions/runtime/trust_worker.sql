-- End a quarantine by hand: a person knows better. Answers whether there was one.
--
-- The runtime has to fail anew to be quarantined again; if its canary still fails and nothing answers its probes, that is at its next
-- report. Writes through restore_trust.
create or replace function uptuple.trust_worker(name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  if not exists (select from uptuple.worker known where known.name = name) then
    raise exception 'there is no runtime named %', coalesce(quote_literal(name), 'null')
      using errcode = 'UT001', hint = 'select worker from uptuple.workers lists them.';
  end if;
  return uptuple.restore_trust(name, 'ended by ' || session_user);
end
$function$;

comment on function uptuple.trust_worker(text) is
  'End the quarantine of a runtime by hand: its next results count. Answers whether it was in one. select * from uptuple.workers shows them.';

revoke execute on function uptuple.trust_worker(text) from public;
grant execute on function uptuple.trust_worker(text) to uptuple_operator;
