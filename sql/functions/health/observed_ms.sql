-- One phase of an observation's timings in ms, or null. What is not a number, negative or absurd never reaches a column's CHECK.
create or replace function uptuple.observed_ms(observation jsonb, phase text)
returns real
language sql
immutable
set search_path = pg_catalog, pg_temp
return case
  when jsonb_typeof(observation -> 'timings' -> phase) = 'number'
  then least(greatest((observation -> 'timings' ->> phase)::numeric, 0), 86400000)::real
end;

comment on function uptuple.observed_ms(jsonb, text) is 'A phase of an observation''s timings in ms, kept between 0 and a day; null if it has none.';

revoke execute on function uptuple.observed_ms(jsonb, text) from public;
