-- finish_alerts for one notice: what the answer meant.
create or replace function uptuple.finish_alert(delivery_id bigint, claim_token uuid, response jsonb)
returns text
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select answer.outcome
  from uptuple.finish_alerts(jsonb_build_array(jsonb_build_object('delivery_id', $1, 'claim_token', $2, 'response', $3))) answer;
$function$;

comment on function uptuple.finish_alert(bigint, uuid, jsonb) is
  'Report what a receiver said, such as ''{"status": 202}'', ''{"status": 429, "retry_after": "120"}'' or ''{"error": {"code": "connect.refused"}}''. '
  'Returns DELIVERED, RETRY, DEAD, PAUSED, SUSPENDED, DUPLICATE (reported before) or REFUSED (nothing changed).';

revoke execute on function uptuple.finish_alert(bigint, uuid, jsonb) from public;
grant execute on function uptuple.finish_alert(bigint, uuid, jsonb) to uptuple_worker, uptuple_operator;
