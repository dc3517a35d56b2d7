-- Give a lock back: true, or false for a token that is not the holder's or whose time is over.
--
-- Others get it at once, or at_least_for after it was taken, whichever is later. The token is forgotten, so that
-- nothing done twice can prolong it. Race, a late holder and its successor: as in extend_lock. Writes uptuple.lock.
create or replace function uptuple.release_lock(name text, token uuid)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  update uptuple.lock as held
     set token = null,
         lock_until = greatest(clock_timestamp(), held.locked_at + held.at_least_for)
   where held.name = name
     and held.token = token
     and held.lock_until > clock_timestamp()
     and held.lock_until - held.at_most_for <= clock_timestamp();
  return found;
end
$function$;

comment on function uptuple.release_lock(text, uuid) is
  'Give a lock back. False, and nothing changes, if the token is not the holder''s or its time is over.';

revoke execute on function uptuple.release_lock(text, uuid) from public;
grant execute on function uptuple.release_lock(text, uuid) to uptuple_worker, uptuple_operator;
