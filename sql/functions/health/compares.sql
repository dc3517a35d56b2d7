-- Whether a value that was found stands in a relation to one that is wanted. Types are respected: 2.42 < 3 as numbers, "10" is a text and
-- neither less nor greater than 3, and equals no number. Texts are ordered by their code points. Reads nothing. Called for each operator
-- of an assertion.
create or replace function uptuple.compares(operator text, seen jsonb, wanted jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
declare
  found_text constant text := case jsonb_typeof(seen) when 'string' then seen #>> '{}' end;
  wanted_text constant text := wanted #>> '{}';
  ordered integer;
begin
  case operator
    when 'exists' then return wanted::boolean;
    when '==' then return seen = wanted;
    when '!=' then return seen <> wanted;
    when 'contains' then return coalesce(strpos(found_text, wanted_text) > 0, false);
    when 'not_contains' then return coalesce(strpos(found_text, wanted_text) = 0, false);
    when 'matches' then return coalesce(found_text ~ wanted_text, false);
    when 'not_matches' then return coalesce(found_text !~ wanted_text, false);
    else null;
  end case;

  if jsonb_typeof(seen) is distinct from jsonb_typeof(wanted) then
    return false;
  end if;
  ordered := case jsonb_typeof(seen)
    when 'number' then sign(seen::numeric - wanted::numeric)
    else case when found_text < wanted_text collate "C" then -1 when found_text = wanted_text then 0 else 1 end
  end;
  return case operator
    when '<' then ordered < 0
    when '<=' then ordered <= 0
    when '>' then ordered > 0
    when '>=' then ordered >= 0
  end;
end
$function$;

comment on function uptuple.compares(text, jsonb, jsonb) is 'Whether a value that was found stands in a relation to one that is wanted; types are respected.';

revoke execute on function uptuple.compares(text, jsonb, jsonb) from public;
grant execute on function uptuple.compares(text, jsonb, jsonb) to uptuple_worker, uptuple_operator, uptuple_viewer;
