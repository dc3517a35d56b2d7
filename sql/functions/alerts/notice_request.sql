-- The request that tells a channel of an event, made by the function of the channel's kind: uptuple.render_<kind>(event, channel).
--
-- A function that fails, or gives something that nobody could send, breaks no claim: the request is then {"error": ...}, the runtime reports it
-- as a failed attempt, and so one notice that cannot be rendered dies alone and a broken function suspends its channel. It runs as
-- uptuple_owner, which is why only functions in this schema count: nobody but its owner can put one there. Called by claim_alerts and check_channel.
create or replace function uptuple.notice_request(event uptuple.event, channel uptuple.channel)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  request jsonb;
begin
  begin
    execute format('select uptuple.%I($1, $2)', 'render_' || channel.kind) into request using event, channel;
  exception when others then
    return jsonb_build_object('error', uptuple.printable(format('uptuple.render_%s: %s', channel.kind, sqlerrm), 500));
  end;

  if (
    jsonb_typeof(request -> 'url') = 'string'
    and (
      jsonb_typeof(request -> 'mail') = 'object'
      or jsonb_typeof(request -> 'method') = 'string' and jsonb_typeof(request -> 'headers') = 'object'
        and jsonb_typeof(request -> 'body') = 'string'
    )
  ) is not true then
    return jsonb_build_object('error', format('uptuple.render_%s gave no request: {"method", "url", "headers", "body"}', channel.kind));
  end if;
  return request;
end
$function$;

comment on function uptuple.notice_request(uptuple.event, uptuple.channel) is
  'The request that tells a channel of an event, made by uptuple.render_<kind>(event, channel); {"error": ...} if that fails.';

revoke execute on function uptuple.notice_request(uptuple.event, uptuple.channel) from public;
