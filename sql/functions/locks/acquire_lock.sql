-- Take a named lock that one instance at a time may hold, for at most `at_most_for`. Gives the holder's token, or null
-- while another holds it.
--
-- Rows are never deleted: the first caller of a name inserts it and every later one updates it, so there is no moment
-- at which a name is neither free nor held. Race, two callers meet at an expired lock: the second waits for the first's
-- row lock, finds lock_until in the future, and gets null. The new times are computed in SET, after that wait; taken
-- from EXCLUDED they would be as old as the wait.
--
-- Writes uptuple.lock. Call it in a transaction of its own: joined to a longer one, it holds a row and not the lock.
create or replace function uptuple.acquire_lock(
  name text,
  at_most_for interval,
  at_least_for interval default interval '0 s',
  owner text default session_user
)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  longest constant interval := uptuple.lock_duration('at_most_for', at_most_for, may_be_zero => false);
  shortest constant interval := uptuple.lock_duration('at_least_for', at_least_for, may_be_zero => true);
  granted uuid;
begin
  perform uptuple.check_name('name', name);
  perform uptuple.check_name('owner', owner);
  if shortest > longest then
    raise exception 'at_least_for is %, and must not be longer than at_most_for, which is %', at_least_for, at_most_for
      using errcode = 'invalid_parameter_value',
            hint = 'at_most_for frees the lock of a holder that died; at_least_for keeps others off after quick work.';
  end if;

  insert into uptuple.lock as held (name, token, locked_by, locked_at, at_most_for, at_least_for, lock_until)
  values (name, gen_random_uuid(), owner, clock_timestamp(), longest, shortest, clock_timestamp() + longest)
  on conflict on constraint lock_pkey do update
    set token = excluded.token,
        locked_by = excluded.locked_by,
        locked_at = clock_timestamp(),
        at_most_for = excluded.at_most_for,
        at_least_for = excluded.at_least_for,
        lock_until = clock_timestamp() + excluded.at_most_for
    where held.lock_until <= clock_timestamp()
       or held.lock_until - held.at_most_for > clock_timestamp()
  returning held.token into granted;

  return granted;
end
$function$;

comment on function uptuple.acquire_lock(text, interval, interval, text) is
  'Take a named lock. Returns the holder''s token, or null while another holds it. It frees itself after '
  'at_most_for; others are held off for '
  'at_least_for even if it is released sooner. Give it back with release_lock(name, token), keep it with '
  'extend_lock(name, token, at_most_for). '
  'Call it in a transaction of its own.';

revoke execute on function uptuple.acquire_lock(text, interval, interval, text) from public;
grant execute on function uptuple.acquire_lock(text, interval, interval, text) to uptuple_worker, uptuple_operator;
