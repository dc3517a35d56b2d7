-- Delete the hourly and daily roll-ups that are older than they are kept, in batches of 10,000, for at most about 10 s. Returns how many.
--
-- Hours stay until their day has been added up. What is left when the time is over goes with the next call. Race, another caller has the
-- same rows: they are skipped. Called by apply_retention. Writes service_hour and service_day.
create or replace function uptuple.forget_roll_ups()
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
as $function$
declare
  at constant timestamptz := clock_timestamp();
  batch constant integer := 10000;
  hours_before constant timestamptz := (
    select least(at - keep, to_timestamp(rolled_until - mod(rolled_until, 86400)))
    from uptuple.retention, uptuple.roll_up_mark
    where kind = 'hours' and keep is not null and only_row
  );
  days_before constant date := (select (at - keep) at time zone 'UTC' from uptuple.retention where kind = 'days');
  -- Past what the last batch has deleted, whose entries are still in the index.
  oldest timestamptz := '-infinity';
  deleted bigint;
  total bigint := 0;
begin
  loop
    with gone as (
      delete from uptuple.service_hour
      where ctid = any (array(
        select old.ctid from uptuple.service_hour old
        where old.hour >= oldest and old.hour < hours_before
        order by old.hour
        limit batch
        for update skip locked
      ))
      returning hour
    )
    select count(*), max(hour) into deleted, oldest from gone;
    total := total + deleted;
    exit when deleted < batch or clock_timestamp() - at > interval '10 s';
  end loop;

  if days_before is not null then
    delete from uptuple.service_day
    where ctid = any (array(select old.ctid from uptuple.service_day old where old.day < days_before limit batch for update skip locked));
    get diagnostics deleted = row_count;
    total := total + deleted;
  end if;
  return total;
end
$function$;

comment on function uptuple.forget_roll_ups() is 'Deletes hourly and daily roll-ups that are older than set_retention says. Returns how many.';

revoke execute on function uptuple.forget_roll_ups() from public;
