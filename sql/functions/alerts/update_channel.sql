-- Change a channel; what is left out stays. A suspension or pause ends, since the cause may be mended: the next notice tries.
--
-- Notices that exist go to the new URL, with the same ids. The kind stays: another kind is another channel. Writes channel and wakes the runtimes.
create or replace function uptuple.update_channel(
  name text,
  new_name text default null,
  url text default null,
  headers jsonb default null,
  signing_secrets text[] default null,
  ordering text default null,
  max_attempts integer default null,
  timeout interval default null,
  options jsonb default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  channel uptuple.channel;
  changed_channel uptuple.channel;
begin
  lock table uptuple.channel in exclusive mode;
  channel := uptuple.find_channel(name);
  perform uptuple.check_name('new_name', coalesce(new_name, name));
  perform uptuple.check_channel(
    channel.kind, coalesce(url, channel.url), coalesce(options, channel.options), coalesce(headers, channel.headers), coalesce(signing_secrets, channel.signing_secrets),
    coalesce(ordering, channel.ordering), coalesce(max_attempts, channel.max_attempts),
    coalesce(timeout, make_interval(secs => channel.timeout_ms / 1000.0))
  );
  if exists (select from uptuple.channel other where other.name = new_name and other.removed_at is null and other.id <> channel.id) then
    raise exception 'there is already a channel named %', quote_literal(new_name)
      using errcode = 'unique_violation', hint = 'Choose another new_name.';
  end if;

  update uptuple.channel changed
  set name = coalesce(new_name, changed.name),
      url = uptuple.channel_url(changed.kind, coalesce(url, changed.url)),
      options = coalesce(options, changed.options),
      headers = coalesce(headers, changed.headers),
      signing_secrets = coalesce(signing_secrets, changed.signing_secrets),
      ordering = coalesce(ordering, changed.ordering),
      max_attempts = coalesce(max_attempts, changed.max_attempts),
      timeout_ms = coalesce(extract(epoch from timeout) * 1000, changed.timeout_ms),
      connect_timeout_ms = least(2000, coalesce(extract(epoch from timeout) * 1000, changed.timeout_ms)),
      suspended_at = null, suspended_reason = null, probe_at = null, paused_until = null, transient_failures = 0,
      updated_at = clock_timestamp()
  where changed.id = channel.id
  returning changed.* into changed_channel;
  perform uptuple.check_rendering(changed_channel);

  if ordering <> channel.ordering then
    perform uptuple.advance_lanes(array(
      select distinct delivery.service_id from uptuple.delivery
      where delivery.channel_id = channel.id and delivery.state in ('READY', 'WAITING', 'HELD')
        and delivery.service_id is not null
    ));
  end if;
  notify uptuple_alerts;
  return channel.id;
end
$function$;

comment on function uptuple.update_channel(text, text, text, jsonb, text[], text, integer, interval, jsonb) is
  'Change a channel; what is left out stays, and so does its kind. Notices that are unsent go to the new url, with the same ids. Ends a suspension '
  'or pause, so call it without changes to try a suspended channel again. Returns its id. Values as in add_channel.';

revoke execute on function uptuple.update_channel(text, text, text, jsonb, text[], text, integer, interval, jsonb) from public;
grant execute on function uptuple.update_channel(text, text, text, jsonb, text[], text, integer, interval, jsonb) to uptuple_operator;
