-- The verdict on an observation that is an error with a code, or null if it is none. INCONCLUSIVE if the runtime could not even ask, for
-- want of a secret; else DOWN, with the error's own code and words.
--
-- Its body is bound when it is created and the planner inlines it. Reads nothing. Called by plain_verdict and other_verdict.
create or replace function uptuple.error_verdict(observation jsonb)
returns uptuple.verdict
language sql
immutable
return case
  when (observation -> 'error' ->> 'code') ~ '^[a-z_]{1,30}(\.[a-z_]{1,30})?$' then (
    case when observation -> 'error' ->> 'code' = 'secret.missing' then 'INCONCLUSIVE' else 'DOWN' end,
    observation -> 'error' ->> 'code',
    coalesce(nullif(uptuple.printable(observation -> 'error' ->> 'message', 500), ''), observation -> 'error' ->> 'code'),
    null::jsonb
  )::uptuple.verdict
end;

comment on function uptuple.error_verdict(jsonb) is 'The verdict on an observation that is an error with a code; null if it is none.';

revoke execute on function uptuple.error_verdict(jsonb) from public;
grant execute on function uptuple.error_verdict(jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
