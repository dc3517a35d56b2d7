-- Make the occurrences of a recurring window ahead, 60 days or 1000 of them, from where the last call stopped. Returns how many.
--
-- If none would be ahead, the next one all the same, so that people see when it is.
-- The caller holds lock_maintenance against those who change the window meanwhile. Called by plan_maintenance, change_maintenance and
-- extend_maintenance. Writes maintenance_occurrence and maintenance_window.
create or replace function uptuple.make_occurrences(window_id bigint)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  planned uptuple.maintenance_window;
  since timestamptz;
  until timestamptz;
  ahead constant boolean := exists (
    select from uptuple.maintenance_occurrence occurrence
    where occurrence.window_id = window_id and occurrence.cancelled_at is null and lower(occurrence.during) > clock_timestamp()
  );
  spans tstzrange[];
begin
  select maintenance_window.* into strict planned from uptuple.maintenance_window where maintenance_window.id = window_id;
  since := greatest(planned.made_until, planned.starts_at);
  until := least(greatest(clock_timestamp(), planned.starts_at) + interval '60 days', planned.ends_at);
  if planned.recurrence = 'ONCE' or planned.cancelled_at is not null or since >= until then
    return 0;
  end if;

  select coalesce(array_agg(span order by span), '{}') into spans
  from uptuple.recurring_spans(planned, since, until, (not ahead)::integer) span
  where lower(span) < coalesce(planned.ends_at, 'infinity');

  insert into uptuple.maintenance_occurrence (window_id, during)
  select window_id, span from unnest(spans) span
  on conflict do nothing;
  update uptuple.maintenance_window changed
  set made_until = case
    when cardinality(spans) = 1000 then lower(spans[1000]) + interval '1 us'
    else greatest(until, lower(spans[cardinality(spans)]) + interval '1 us')
  end
  where changed.id = window_id;
  return cardinality(spans);
end
$function$;

comment on function uptuple.make_occurrences(bigint) is 'Makes the occurrences of a recurring window ahead. Returns how many.';

revoke execute on function uptuple.make_occurrences(bigint) from public;
