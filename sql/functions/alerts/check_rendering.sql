-- Refuses a channel whose kind's function cannot render a test notice for it: better now than when something is down.
--
-- Reads what the function reads. Called by add_channel and update_channel, which roll back what they wrote.
create or replace function uptuple.check_rendering(channel uptuple.channel)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
declare
  sample uptuple.event;
  request jsonb;
begin
  sample.id := 0;
  sample.event_id := gen_random_uuid();
  sample.kind := 'channel.test';
  sample.severity := 'info';
  sample.dedupe_key := 'sample';
  sample.occurred_at := clock_timestamp();
  sample.created_at := sample.occurred_at;
  sample.data := jsonb_build_object('event_id', sample.event_id, 'kind', sample.kind, 'severity', sample.severity, 'channel', channel.name);
  request := uptuple.notice_request(sample, channel);
  if request ? 'error' then
    raise exception 'a test notice cannot be rendered for the kind %', channel.kind
      using errcode = 'invalid_parameter_value', detail = request ->> 'error',
        hint = format('Mend the function uptuple.render_%s, or give the options that it reads.', channel.kind);
  end if;
end
$function$;

comment on function uptuple.check_rendering(uptuple.channel) is
  'Refuses a channel whose kind''s function cannot render a test notice for it.';

revoke execute on function uptuple.check_rendering(uptuple.channel) from public;
