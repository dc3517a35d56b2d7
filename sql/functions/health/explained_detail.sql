-- The detail of a result with more to say than most: outcomes of assertions, and the warning that a body could not be decoded, which is no
-- failure where nobody looked at the body. Reads nothing; called by observed_detail.
create or replace function uptuple.explained_detail(observation jsonb, outcomes jsonb)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $function$
  select coalesce(uptuple.observed_detail($1 - 'error'), '{}')
    || case when $2 is null then '{}' else jsonb_build_object('assertions', $2) end
    || case
      when $1 -> 'error' ->> 'code' = 'body.decode' then jsonb_build_object(
        'warnings',
        case when jsonb_typeof($1 -> 'warnings') = 'array' then ($1 -> 'warnings') - 'body_decode_error' else '[]' end || '"body_decode_error"'
      )
      else '{}'
    end;
$function$;

comment on function uptuple.explained_detail(jsonb, jsonb) is 'The detail of a result that has outcomes of assertions or a body that could not be decoded.';

revoke execute on function uptuple.explained_detail(jsonb, jsonb) from public;
