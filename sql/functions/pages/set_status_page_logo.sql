-- Give a status page a logo: PNG, JPEG, GIF or WebP, up to 256 kB, told by its first bytes. Null takes it away. Writes status_page.
--
-- SVG is not taken: it can hold scripts, and the page serves what it is given to everybody.
create or replace function uptuple.set_status_page_logo(slug text, image bytea)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  page constant uptuple.status_page := uptuple.find_status_page(slug);
  type constant text := case
    when substr(image, 1, 8) = '\x89504e470d0a1a0a' then 'image/png'
    when substr(image, 1, 3) = '\xffd8ff' then 'image/jpeg'
    when substr(image, 1, 6) in ('\x474946383761', '\x474946383961') then 'image/gif'
    when substr(image, 1, 4) = '\x52494646' and substr(image, 9, 4) = '\x57454250' then 'image/webp'
  end;
begin
  if image is not null and type is null then
    raise exception 'image is neither PNG nor JPEG, GIF or WebP'
      using errcode = 'invalid_parameter_value', hint = 'For example decode(''...'', ''base64'') of a PNG file.';
  end if;
  if octet_length(image) > 262144 then
    raise exception 'image has % bytes', octet_length(image)
      using errcode = 'invalid_parameter_value', hint = 'A logo may have up to 262144 bytes.';
  end if;
  update uptuple.status_page changed
  set logo = image, logo_type = type, updated_at = clock_timestamp()
  where changed.id = page.id;
end
$function$;

comment on function uptuple.set_status_page_logo(text, bytea) is
  'Give a status page a logo (PNG, JPEG, GIF or WebP, up to 256 kB): set_status_page_logo(''default'', decode(''...'', ''base64'')). Null takes it away.';

revoke execute on function uptuple.set_status_page_logo(text, bytea) from public;
grant execute on function uptuple.set_status_page_logo(text, bytea) to uptuple_operator;
