-- One phase of an observation's timings in ms, to the microsecond, or null. What is not a number, negative, or too large or too small for the
-- column never reaches it.
--
-- Called five times for each result, so it has no SET: its body is bound when it is created, and the planner inlines it (with a SET each
-- call took 4 us, and the five were most of a completion's cost). Reads nothing.
create or replace function uptuple.observed_ms(observation jsonb, phase text)
returns real
language sql
immutable
return case
  when jsonb_typeof(observation -> 'timings' -> phase) = 'number'
  then round(least(greatest((observation -> 'timings' ->> phase)::numeric, 0), 86400000), 3)::real
end;

comment on function uptuple.observed_ms(jsonb, text) is 'A phase of an observation''s timings in ms, kept between 0 and a day; null if it has none.';

revoke execute on function uptuple.observed_ms(jsonb, text) from public;
grant execute on function uptuple.observed_ms(jsonb, text) to uptuple_worker, uptuple_operator, uptuple_viewer;
