-- What an event says below its title, in lines of plain text, whatever its kind; not escaped for anything. Reads nothing.
--
-- An event's data may bring text instead of a reason, lines to add, and the services or members that it is about.
create or replace function uptuple.notice_text(event uptuple.event)
returns text
language sql
immutable
return (
  with named as (
    select
      array(
        select coalesce(member.value ->> 'title', member.value ->> 'service', member.value #>> '{}')
        from jsonb_array_elements(case when jsonb_typeof(event.data -> 'services') = 'array' then event.data -> 'services' else '[]' end)
          with ordinality member (value, position)
        order by member.position
        limit 20
      ) as services,
      array(
        select line.value #>> '{}'
        from jsonb_array_elements(case when jsonb_typeof(event.data -> 'lines') = 'array' then event.data -> 'lines' else '[]' end)
          with ordinality line (value, position)
        order by line.position
        limit 50
      ) as lines,
      case when jsonb_typeof(event.data -> 'count') = 'number' then (event.data ->> 'count')::numeric - 20 end as further
  )
  select uptuple.plain_text(concat_ws(
    E'\n',
    case event.kind when 'channel.test' then 'Nothing has happened: somebody tried whether notices get here.' end,
    nullif(btrim(coalesce(event.data ->> 'text', event.data ->> 'reason')), ''),
    'Services: ' || nullif(array_to_string(named.services, ', '), '')
      || case when named.further > 0 then ' and ' || named.further || ' more' else '' end,
    nullif(array_to_string(named.lines, E'\n'), ''),
    'Expires: ' || replace(left(event.data ->> 'not_after', 16), 'T', ' ') || ' UTC',
    case
      when event.data ? 'down_seconds' and jsonb_typeof(event.data -> 'down_seconds') = 'number'
        then case when uptuple.notice_resolves(event) then 'It was down for ' else 'Down for ' end
          || uptuple.duration_text((event.data ->> 'down_seconds')::numeric) || '.'
      when event.data ? 'failing_since' then 'Failing since ' || replace(left(event.data ->> 'failing_since', 19), 'T', ' ') || ' UTC.'
    end,
    'Note: ' || nullif(btrim(event.data ->> 'note'), '')
  ))
  from named
);

comment on function uptuple.notice_text(uptuple.event) is 'What an event says below its title, in lines of plain text, whatever its kind.';

revoke execute on function uptuple.notice_text(uptuple.event) from public;
