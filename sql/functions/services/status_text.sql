-- A multirange of statuses as a person writes it: '200-299, 401'. The inverse of status_ranges; for messages and update_service.
create or replace function uptuple.status_text(expected_statuses int4multirange)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
return (
  select string_agg(
    case when upper(range) - lower(range) = 1 then lower(range)::text else lower(range) || '-' || upper(range) - 1 end,
    ', ' order by range
  )
  from unnest(expected_statuses) range
);

comment on function uptuple.status_text(int4multirange) is 'A multirange of statuses as text, such as ''200-299, 401''.';

revoke execute on function uptuple.status_text(int4multirange) from public;
grant execute on function uptuple.status_text(int4multirange) to uptuple_operator, uptuple_viewer, uptuple_worker;
