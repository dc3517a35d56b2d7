-- How long a receiver asks to be left alone: Retry-After as seconds or as an HTTP date, between nothing and an hour; null if it does not ask
-- or what it says cannot be read (RFC 9110, 10.2.3). Reads nothing.
create or replace function uptuple.retry_after(header text)
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  wait interval;
begin
  if header ~ '^\s*[0-9]{1,9}\s*$' then
    wait := make_interval(secs => header::integer);
  elsif header ~ '^\s*[A-Za-z]{3,9}, .{10,30}$' then
    wait := header::timestamptz - clock_timestamp();
  end if;
  return least(greatest(wait, interval '0'), interval '1 hour');
exception when data_exception then
  return null;
end
$function$;

comment on function uptuple.retry_after(text) is 'A Retry-After header, in seconds or as a date, as an interval of at most an hour; null if unreadable.';

revoke execute on function uptuple.retry_after(text) from public;
