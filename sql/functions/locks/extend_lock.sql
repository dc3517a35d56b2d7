-- Hold a lock for `at_most_for` from now, if it is still held: true, or false for a token that is not the holder's or
-- whose time is over.
--
-- Race, a late holder and its successor: the row lock orders them, and the WHERE is judged again after the wait, with
-- the time of then. Writes uptuple.lock. Called by holders, at half of the time.
create or replace function uptuple.extend_lock(name text, token uuid, at_most_for interval)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  longest constant interval := uptuple.lock_duration('at_most_for', at_most_for, may_be_zero => false);
begin
  update uptuple.lock as held
     set at_most_for = greatest(longest, held.at_least_for),
         lock_until = clock_timestamp() + longest
   where held.name = name
     and held.token = token
     and held.lock_until > clock_timestamp()
     and held.lock_until - held.at_most_for <= clock_timestamp();
  return found;
end
$function$;

comment on function uptuple.extend_lock(text, uuid, interval) is
  'Hold a lock for at_most_for from now. False, and nothing changes, if the token is not the holder''s or its time '
  'is over.';

revoke execute on function uptuple.extend_lock(text, uuid, interval) from public;
grant execute on function uptuple.extend_lock(text, uuid, interval) to uptuple_worker, uptuple_operator;
