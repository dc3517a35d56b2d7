-- Refuses a status page that could not be served. Each error names the argument and the cure. Reads nothing.
create or replace function uptuple.check_status_page(slug text, title text, description text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $function$
begin
  if (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 60) is not true then
    raise exception 'slug is %, which is no part of an address', coalesce(quote_literal(slug), 'null')
      using errcode = 'invalid_parameter_value', hint = 'Use up to 60 small letters and digits, with single hyphens between them.';
  end if;
  if slug = 'logo' then
    raise exception 'slug is ''logo'', where the logo of the page at /status is'
      using errcode = 'invalid_parameter_value', hint = 'Use another word.';
  end if;
  perform uptuple.check_name('title', title);
  if description is not null and (length(description) between 1 and 5000) is not true then
    raise exception 'description has % characters', length(description)
      using errcode = 'invalid_parameter_value', hint = 'It may have up to 5000; null takes it away.';
  end if;
end
$function$;

comment on function uptuple.check_status_page(text, text, text) is 'Refuses a status page that could not be served, with an error that names the argument.';

revoke execute on function uptuple.check_status_page(text, text, text) from public;
