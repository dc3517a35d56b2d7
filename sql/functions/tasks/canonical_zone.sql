-- The name of a time zone as pg_timezone_names spells it, whatever its case; an error if there is none of that name.
-- Reads pg_timezone_names, which opens every file of the time zone database (20-120 ms), so it is for writes only.
create or replace function uptuple.canonical_zone(time_zone text)
returns text
language plpgsql
stable strict
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_column
declare
  wanted constant text := uptuple.zone_rules(btrim(canonical_zone.time_zone));
  canonical text;
begin
  if wanted = 'UTC' then
    return wanted;
  end if;
  select known.name into canonical
    from pg_catalog.pg_timezone_names known
   where lower(known.name) = lower(wanted)
   limit 1;
  if canonical is null then
    raise exception 'time_zone "%" is not known', left(canonical_zone.time_zone, 100)
      using errcode = 'invalid_parameter_value',
            hint = 'Write a name from pg_timezone_names, such as Europe/Berlin or UTC: select name from '
                   'pg_timezone_names order by name.';
  end if;
  return canonical;
end
$function$;

comment on function uptuple.canonical_zone(text) is
  'The name of a time zone as pg_timezone_names spells it. An unknown one is an error. Takes 20-120 ms.';

revoke execute on function uptuple.canonical_zone(text) from public;
grant execute on function uptuple.canonical_zone(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
