-- How the digits of punycode are weighed after one character has been written (RFC 3492, 6.1). Reads nothing. Called by to_punycode and
-- from_punycode.
create or replace function uptuple.punycode_bias(delta bigint, written bigint, is_first boolean)
returns bigint
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  bias bigint := 0;
begin
  delta := delta / case when is_first then 700 else 2 end;
  delta := delta + delta / written;
  while delta > 455 loop
    delta := delta / 35;
    bias := bias + 36;
  end loop;
  return bias + 36 * delta / (delta + 38);
end
$function$;

comment on function uptuple.punycode_bias(bigint, bigint, boolean) is 'How the digits of punycode are weighed after one character has been written.';

revoke execute on function uptuple.punycode_bias(bigint, bigint, boolean) from public;
grant execute on function uptuple.punycode_bias(bigint, bigint, boolean) to uptuple_worker, uptuple_operator, uptuple_viewer;
