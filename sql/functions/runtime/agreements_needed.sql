-- How often in a row a runtime's canary has to answer before it is trusted again; of verdicts it takes three times as many.
--
-- Doubled with each quarantine that came less than an hour after the last. Called by judge_worker and weigh_verdicts. Reads nothing.
create or replace function uptuple.agreements_needed(quarantines integer)
returns integer
language sql
immutable
return (2 ^ least(quarantines - 1, 5))::integer;

comment on function uptuple.agreements_needed(integer) is
  'How often in a row a canary has to answer before its runtime, quarantined so often within an hour, is trusted again.';

revoke execute on function uptuple.agreements_needed(integer) from public;
