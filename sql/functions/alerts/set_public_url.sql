-- Say where people reach the pages, so that notices can link to them; null to have no links.
--
-- Called by the runtime at its start when UPTUPLE_PUBLIC_URL is set, and by hand. Notices that are still unsent get the new link. Writes setting.
create or replace function uptuple.set_public_url(url text)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  canonical text;
begin
  if url is not null then
    if url !~* '^https?://' or url ~ '[?#@]' or url ~ '\$\{UPTUPLE_SECRET_' then
      raise exception 'url % is not the address of a page', quote_literal(url)
        using errcode = 'invalid_parameter_value', hint = 'Give the address that people open, such as https://status.example.com/.';
    end if;
    canonical := rtrim(uptuple.service_url(url), '/') || '/';
  end if;

  update uptuple.setting set public_url = canonical where setting.public_url is distinct from canonical;
  return canonical;
end
$function$;

comment on function uptuple.set_public_url(text) is
  'Say where people reach the pages, such as https://status.example.com/; notices link to it. Null: no links. Returns what is stored.';

revoke execute on function uptuple.set_public_url(text) from public;
grant execute on function uptuple.set_public_url(text) to uptuple_worker, uptuple_operator;
