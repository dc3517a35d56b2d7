-- One member of an entry of the tasks file as text, null if it is absent or null; an error that quotes it if it is of
-- another kind than `wanted`: string, boolean, integer, count (an integer of up to nine digits), or duration (ms as a
-- whole number, or ISO 8601 in weeks, days, hours, minutes and seconds; given back in ms). Called by read_task_entry.
create or replace function uptuple.json_member(entry jsonb, key text, wanted text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  member constant jsonb := nullif(entry -> key, 'null'::jsonb);
  text_value constant text := entry ->> key;
  kind constant text := jsonb_typeof(member);
begin
  if member is null then
    return null;
  elsif kind = wanted
    or (wanted in ('integer', 'duration') and kind = 'number' and text_value ~ '^[0-9]{1,15}$')
    or (wanted = 'count' and kind = 'number' and text_value ~ '^[0-9]{1,9}$')
  then
    return text_value;
  elsif wanted = 'duration' and kind = 'string'
    and text_value ~ ('^P([0-9]{1,5}W|(?=[0-9T])([0-9]{1,5}D)?'
      '(T(?=[0-9])([0-9]{1,7}H)?([0-9]{1,8}M)?([0-9]{1,9}(\.[0-9]{1,3})?S)?)?)$')
  then
    return round(extract(epoch from text_value::interval) * 1000)::text;
  end if;
  raise exception '% is %, and must be %', key, left(member::text, 200), case wanted
      when 'string' then 'a string'
      when 'boolean' then 'true or false'
      when 'integer' then 'a whole number'
      when 'count' then 'a whole number of up to nine digits'
      else 'a whole number of ms, or an ISO 8601 duration such as "PT5M" or "P1DT12H" (no months, no years)'
    end
    using errcode = 'invalid_parameter_value';
end
$function$;

comment on function uptuple.json_member(jsonb, text, text) is
  'One member of an entry of the tasks file; refuses what is of another kind.';

revoke execute on function uptuple.json_member(jsonb, text, text) from public;
