-- The name to give to AT TIME ZONE for a zone that a person named, without the 20-120 ms that a look into
-- pg_timezone_names costs.
--
-- AT TIME ZONE takes more than names, and takes some names for something else. `+03` and `UTC+2` are POSIX rules that
-- count west: they are refused here. CET, EET, MET and WET are names of zones with summer time, but the abbreviation of
-- the same letters is found first and has none: they become the zone that the time zone database links them to. Whether
-- the name exists, canonical_zone says when a task is written.
create or replace function uptuple.zone_rules(time_zone text)
returns text
language plpgsql
immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $function$
begin
  if time_zone !~* '^([a-z_]+[a-z_/+-]*|etc/gmt[+-]?[0-9]{1,2}|gmt[+-]?0|est5edt|cst6cdt|mst7mdt|pst8pdt)$' then
    raise exception 'time_zone "%" is not a zone''s name', left(time_zone, 100)
      using errcode = 'invalid_parameter_value',
            hint = 'Write a name from pg_timezone_names, such as Europe/Berlin or UTC. Offsets such as +03 and UTC+2 are '
                   'refused: PostgreSQL reads them as west of Greenwich. A fixed offset of three hours east is Etc/GMT-3.';
  end if;
  return case upper(time_zone)
    when 'CET' then 'Europe/Brussels'
    when 'MET' then 'Europe/Brussels'
    when 'EET' then 'Europe/Athens'
    when 'WET' then 'Europe/Lisbon'
    else time_zone
  end;
end
$function$;

comment on function uptuple.zone_rules(text) is
  'The name under which AT TIME ZONE knows a zone; refuses what is an offset or a POSIX rule.';

revoke execute on function uptuple.zone_rules(text) from public;
