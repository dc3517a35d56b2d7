-- How long a receiver asks to be left alone: Retry-After as seconds or as an HTTP date, between nothing and an hour; null if it does not ask
-- or what it says cannot be read. RFC 9110, 10.2.3; a date has one of the three forms of 5.6.7, is in GMT whether it says so or not, and is
-- read without its weekday, since PostgreSQL does not take the form of RFC 850 with it. Reads nothing.
create or replace function uptuple.retry_after(header text)
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, DMY'
as $function$
declare
  moment constant text[] := regexp_match(header, '^\s*[A-Za-z]{3,9},? (.{10,30}?)(?: GMT)?\s*$');
  wait interval;
begin
  if header ~ '^\s*[0-9]{1,100}\s*$' then
    wait := make_interval(secs => least(header::numeric, 3600)::integer);
  elsif moment is not null then
    wait := (moment[1] || ' GMT')::timestamptz - clock_timestamp();
  end if;
  return case when wait is not null then least(greatest(wait, interval '0'), interval '1 hour') end;
exception when data_exception then
  return null;
end
$function$;

comment on function uptuple.retry_after(text) is 'A Retry-After header, in seconds or as a date, as an interval of at most an hour; null if unreadable.';

revoke execute on function uptuple.retry_after(text) from public;
