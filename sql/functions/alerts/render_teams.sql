-- The request that tells Microsoft Teams of an event, by the webhook of a workflow: an Adaptive Card.
--
-- Text stands in TextRuns, in which nothing is formatted, one block for each line, since a TextRun breaks none. A message takes 28 KB. Reads
-- setting. Called by notice_request.
create or replace function uptuple.render_teams(event uptuple.event, channel uptuple.channel)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
return uptuple.json_request(
  event, channel, channel.url,
  json_build_object('type', 'message', 'attachments', json_build_array(json_build_object(
    'contentType', 'application/vnd.microsoft.card.adaptive',
    'content', json_strip_nulls(json_build_object(
      '$schema', 'http://adaptivecards.io/schemas/adaptive-card.json',
      'type', 'AdaptiveCard',
      'version', '1.4',
      'body', (
        select json_agg(
          json_build_object('type', 'RichTextBlock', 'inlines', json_build_array(case line.position
            when 0 then json_build_object('type', 'TextRun', 'text', line.text, 'weight', 'Bolder', 'size', 'Medium', 'color', case
              when uptuple.notice_resolves(event) then 'Good'
              when event.severity = 'critical' then 'Attention'
              when event.severity = 'warning' then 'Warning'
              else 'Accent'
            end)
            else json_build_object('type', 'TextRun', 'text', line.text)
          end))
          order by line.position
        )
        from (
          select 0 as position, uptuple.notice_sign(event) || ' ' || uptuple.clip(uptuple.notice_title(event), 300) as text
          union all
          select given.position, given.text
          from string_to_table(uptuple.clip(uptuple.notice_text(event), 4000), E'\n') with ordinality given (text, position)
          where given.text <> '' and given.position <= 60
        ) line
      ),
      'actions', case when uptuple.notice_url(event) is not null then json_build_array(
        json_build_object('type', 'Action.OpenUrl', 'title', 'Open Uptuple', 'url', uptuple.notice_url(event))
      ) end
    ))
  )))
);

comment on function uptuple.render_teams(uptuple.event, uptuple.channel) is
  'The request that tells the webhook of a Microsoft Teams workflow of an event.';

revoke execute on function uptuple.render_teams(uptuple.event, uptuple.channel) from public;
