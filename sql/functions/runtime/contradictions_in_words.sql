-- What a runtime was contradicted on of late, for people. Called where it is quarantined for it. Reads worker_contradiction and service.
create or replace function uptuple.contradictions_in_words(worker text)
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $function$
  select format('within two minutes it saw %s services down that others saw up: %s%s', count(*),
    string_agg(contradicted.name, ', ') filter (where contradicted.place <= 5), case when count(*) > 5 then ' ...' else '' end)
  from (
    select service.name, row_number() over (order by service.name) as place
    from uptuple.service
    where service.id in (
      select noted.service_id from uptuple.worker_contradiction noted
      where noted.worker = $1 and noted.noted_at > clock_timestamp() - interval '2 minutes'
    )
  ) contradicted;
$function$;

comment on function uptuple.contradictions_in_words(text) is 'A sentence on the services that a runtime was contradicted on.';

revoke execute on function uptuple.contradictions_in_words(text) from public;
