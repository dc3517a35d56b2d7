-- claim_alerts for one notice: a row, or none if nothing is ready.
create or replace function uptuple.claim_alert(worker text)
returns table (
  delivery_id bigint,
  claim_token uuid,
  event_id uuid,
  kind text,
  channel text,
  attempt integer,
  request jsonb,
  signing_secrets text[],
  connect_timeout_ms integer,
  timeout_ms integer,
  lease_ms integer
)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $function$
  select * from uptuple.claim_alerts($1, 1);
$function$;

comment on function uptuple.claim_alert(text) is
  'Lease the next notice that is ready to a worker for 30 seconds: one row with its claim_token, or none.';

revoke execute on function uptuple.claim_alert(text) from public;
grant execute on function uptuple.claim_alert(text) to uptuple_worker, uptuple_operator;
