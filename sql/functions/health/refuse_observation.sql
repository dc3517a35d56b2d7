-- Refuses, with 22023, an observation that is neither an answer nor an error. Called by evaluate_observation, which is an expression and
-- cannot raise. Stable although it depends on nothing: an immutable call without arguments is made while a statement is planned, and every
-- completion would be refused. Reads nothing.
create or replace function uptuple.refuse_observation()
returns uptuple.verdict
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
begin
  raise exception 'the observation has neither a numeric status nor an error with a code'
    using errcode = 'invalid_parameter_value',
          hint = 'Give {"status": 200} or {"error": {"code": "connect.refused", "message": "..."}}.';
end
$function$;

comment on function uptuple.refuse_observation() is 'Raises the error for an observation that cannot be judged.';

revoke execute on function uptuple.refuse_observation() from public;
grant execute on function uptuple.refuse_observation() to uptuple_worker, uptuple_operator, uptuple_viewer;
