-- Refuses a name that cannot be shown or typed. Called wherever a person names a service, a channel or a task.
create or replace function uptuple.check_name(argument text, name text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if (length(name) between 1 and 200 and name = btrim(name) and name !~ '[[:cntrl:]]') is not true then
    raise exception '% is %, and must be 1 to 200 characters without control characters or blanks at its ends',
        argument, coalesce(quote_literal(left(name, 250)), 'null')
      using errcode = 'invalid_parameter_value', hint = 'For example ' || argument || ' => ''inventory''.';
  end if;
end
$function$;

comment on function uptuple.check_name(text, text) is 'Refuses a name that is empty, too long, or holds control characters.';

revoke execute on function uptuple.check_name(text, text) from public;
