-- Give back notices that were claimed and not started: READY at once, and the attempt is given back. Returns how many. Fenced.
--
-- A notice that has been posted must not be given back: whether it arrived is not known, so its lease runs out. One whose elder was
-- requeued meanwhile waits behind it. Locks lanes in the order of ids. Writes delivery.
create or replace function uptuple.release_alerts(delivery_ids bigint[], claim_tokens uuid[])
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  released integer;
begin
  if cardinality(delivery_ids) is distinct from cardinality(claim_tokens) then
    raise exception 'delivery_ids has % entries and claim_tokens has %',
        coalesce(cardinality(delivery_ids), 0), coalesce(cardinality(claim_tokens), 0)
      using errcode = 'invalid_parameter_value', hint = 'Give one token for each delivery.';
  end if;

  lock table uptuple.channel in row exclusive mode;
  perform uptuple.lock_lanes('{}', delivery_ids);
  update uptuple.delivery
  set state = 'READY', claim_token = null, attempts = delivery.attempts - 1, due_at = clock_timestamp()
  from unnest(delivery_ids, claim_tokens) given (id, token)
  where delivery.id = given.id
    and delivery.claim_token = given.token
    and delivery.due_at > clock_timestamp();

  get diagnostics released = row_count;
  if released > 0 then
    perform uptuple.advance_lanes('{}', delivery_ids);
    notify uptuple_alerts;
  end if;
  return released;
end
$function$;

comment on function uptuple.release_alerts(bigint[], uuid[]) is
  'Give back notices that were claimed and not started: READY at once, the attempt is not counted. Returns how many were given back.';

revoke execute on function uptuple.release_alerts(bigint[], uuid[]) from public;
grant execute on function uptuple.release_alerts(bigint[], uuid[]) to uptuple_worker, uptuple_operator;
