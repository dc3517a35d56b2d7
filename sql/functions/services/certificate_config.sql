-- The configuration of a check of nothing but a certificate: DOWN when it has fewer days left than the option "days", 14 if left out.
-- Reads nothing; called by check_config.
create or replace function uptuple.certificate_config(insecure boolean, options jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if options ? 'days' and (
    jsonb_typeof(options -> 'days') <> 'number' or (options ->> 'days')::numeric not between 0 and 3650
    or mod((options ->> 'days')::numeric, 1) <> 0
  ) then
    raise exception 'options has %, and days must be a whole number from 0 to 3650', left((options -> 'days')::text, 100)
      using errcode = 'invalid_parameter_value', hint = 'For example ''{"days": 14}'': fewer days left are a failure.';
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'days', coalesce((options ->> 'days')::numeric::integer, 14),
    'tls', uptuple.tls_config(options),
    'insecure', nullif(coalesce(insecure, false), false)
  ));
end
$function$;

comment on function uptuple.certificate_config(boolean, jsonb) is 'The configuration of a certificate:// check as service_revision stores it.';

revoke execute on function uptuple.certificate_config(boolean, jsonb) from public;
