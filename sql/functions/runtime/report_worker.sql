-- A runtime says that it lives: what it is, and how many completions were accepted since its last report.
--
-- Nothing depends on it but what people are shown and whether the monitor vouches for itself; leases alone decide who owns what.
-- Called every few seconds by each runtime. Writes worker.
create or replace function uptuple.report_worker(
  worker text,
  region text,
  roles text[],
  release integer,
  completed integer default 0
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
begin
  perform uptuple.check_name('worker', worker);
  insert into uptuple.worker as known (name, region, roles, release, completed_at)
  values (worker, region, roles, release, case when completed > 0 then clock_timestamp() end)
  on conflict on constraint worker_pkey do update
    set region = excluded.region,
        roles = excluded.roles,
        release = excluded.release,
        seen_at = clock_timestamp(),
        completed_at = coalesce(excluded.completed_at, known.completed_at),
        stopped_at = null;
end
$function$;

comment on function uptuple.report_worker(text, text, text[], integer, integer) is
  'A runtime reports that it lives, and how many of its completions were accepted since it last did.';

revoke execute on function uptuple.report_worker(text, text, text[], integer, integer) from public;
grant execute on function uptuple.report_worker(text, text, text[], integer, integer) to uptuple_worker;
