-- Within how many seconds failures, and recoveries, are told to a channel in one digest. By default 5 where people read, and 0, each by itself, where
-- programs do, which keep count of incidents: webhooks, PagerDuty, Opsgenie, Alertmanager, and kinds of people's own. Reads nothing.
create or replace function uptuple.grouping_seconds(channel uptuple.channel)
returns integer
language sql
immutable
return coalesce(
  (channel).group_seconds,
  case
    when (channel).kind in ('slack', 'discord', 'teams', 'mattermost', 'telegram', 'ntfy', 'gotify', 'pushover', 'email') then 5
    else 0
  end
);

comment on function uptuple.grouping_seconds(uptuple.channel) is 'Within how many seconds failures, and recoveries, are told to a channel in one digest; 0: never.';

revoke execute on function uptuple.grouping_seconds(uptuple.channel) from public;
