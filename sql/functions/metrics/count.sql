-- Add to a total. Called in the transaction of what is counted, with a lock held under which only one at a time counts with these labels;
-- so who counts several does it in one order, and nobody deadlocks over totals. Writes counter.
create or replace function uptuple.count(name text, labels jsonb, amount double precision default 1)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $function$
  insert into uptuple.counter as known (name, labels, value)
  values ($1, $2, $3)
  on conflict on constraint counter_pkey do update set value = known.value + excluded.value;
$function$;

comment on function uptuple.count(text, jsonb, double precision) is 'Adds to a total of the metrics.';

revoke execute on function uptuple.count(text, jsonb, double precision) from public;
