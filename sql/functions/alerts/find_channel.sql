-- The channel of that name, or error UT001. Channels that were removed are not found: their name is free.
create or replace function uptuple.find_channel(name text)
returns uptuple.channel
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  found_channel uptuple.channel;
begin
  select channel.* into found_channel
  from uptuple.channel
  where channel.name = name and channel.removed_at is null;

  if not found then
    raise exception 'there is no channel named %', coalesce(quote_literal(name), 'null')
      using errcode = 'UT001', hint = 'select name from uptuple.channels_health lists the channels.';
  end if;
  return found_channel;
end
$function$;

comment on function uptuple.find_channel(text) is 'The channel of that name; UT001 if there is none.';

revoke execute on function uptuple.find_channel(text) from public;
