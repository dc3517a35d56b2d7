-- Everything that a status page shows at this moment, but for its past days: null if there is no such page.
--
-- {page, components, incidents, maintenances}. Nothing of a service but its shown name, group and state; of an incident its times and what was
-- written for the public; of maintenance title, text and times. No address, no reason, and no service that was not chosen. Incidents:
-- those that are open and those of the last 14 days, unless nobody was to be told of them. Maintenance: what was over less than 14 days
-- ago and what begins in the next 60. What is shown depends on the rows alone and not on the time of reading, so that a page that says the
-- same is the same. Reads only.
create or replace function uptuple.status_page(slug text default 'default')
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  at constant timestamptz := clock_timestamp();
  page uptuple.status_page;
begin
  select known.* into page from uptuple.status_page known where known.slug = slug;
  if not found then
    return null;
  end if;

  return (
    with component as materialized (
      select chosen.service_id, chosen.service, chosen.shown_name, chosen.shown_group, chosen.group_position, chosen.position,
        md5(format('component %s %s', page.id, chosen.service_id))::uuid as id,
        case
          when shown.maintenance_until is not null then 'under_maintenance'
          when shown.status = 'UP' then 'operational'
          when shown.status = 'DEGRADED' then 'degraded_performance'
          when shown.status = 'DOWN' then 'major_outage'
          when shown.status = 'PAUSED' then 'not_watched'
          else 'unknown'
        end as status,
        shown.since
      from uptuple.public_services chosen
      join uptuple.status shown on shown.service = chosen.service
      where chosen.page_id = page.id
    ),
    affected as materialized (
      select incident.id, incident.started_at, incident.opened_at, incident.closed_at, component.id as component_id, component.shown_name
      from component
      join uptuple.incident on incident.service_id = component.service_id
      where (incident.closed_at is null or incident.closed_at > at - interval '14 days')
        and incident.withheld_because is null
    ),
    planned as materialized (
      select calendar.*, covered.components
      from uptuple.maintenance_calendar calendar
      cross join lateral (
        select jsonb_agg(jsonb_build_object('id', component.id, 'name', component.shown_name) order by component.shown_name) as components
        from component
        where component.service = any (calendar.services)
      ) covered
      where calendar.ends_at > at - interval '14 days'
        and calendar.starts_at < at + interval '60 days'
        and covered.components is not null
    )
    select jsonb_build_object(
      'page', jsonb_build_object(
        'id', md5(format('page %s', page.id))::uuid,
        'slug', page.slug,
        'title', page.title,
        'description', page.description,
        'logo', left(md5(page.logo), 12),
        'updated_at', greatest(
          page.updated_at, (select max(component.since) from component), (select max(coalesce(affected.closed_at, affected.opened_at)) from affected),
          (
            select max(coalesce(posted.changed_at, posted.posted_at))
            from uptuple.incident_update posted
            where posted.public and posted.incident_id in (select affected.id from affected)
          ),
          (select max(planned.changed_at) from planned)
        )
      ),
      'components', (
        select coalesce(jsonb_agg(
          jsonb_build_object(
            'id', component.id, 'name', component.shown_name, 'group', component.shown_group, 'status', component.status, 'since', component.since
          )
          order by component.group_position, component.shown_group nulls last, component.position, component.shown_name, component.id
        ), '[]')
        from component
      ),
      'incidents', (
        select coalesce(jsonb_agg(
          jsonb_build_object(
            'id', md5(format('incident %s', affected.id))::uuid,
            'component', jsonb_build_object('id', affected.component_id, 'name', affected.shown_name),
            'started_at', affected.started_at,
            'opened_at', affected.opened_at,
            'closed_at', affected.closed_at,
            'updates', (
              select coalesce(jsonb_agg(
                jsonb_build_object(
                  'id', md5(format('update %s', posted.id))::uuid, 'status', posted.status, 'body', posted.body, 'posted_at', posted.posted_at,
                  'changed_at', posted.changed_at
                )
                order by posted.posted_at, posted.id
              ), '[]')
              from uptuple.incident_update posted
              where posted.incident_id = affected.id and posted.public
            )
          )
          order by affected.opened_at desc, affected.id desc
        ), '[]')
        from affected
      ),
      'maintenances', (
        select coalesce(jsonb_agg(
          jsonb_build_object(
            'id', planned.uid, 'sequence', planned.sequence, 'title', planned.title, 'description', planned.description, 'state', planned.state,
            'starts_at', planned.starts_at, 'ends_at', planned.ends_at, 'changed_at', planned.changed_at, 'components', planned.components
          )
          order by planned.starts_at, planned.uid
        ), '[]')
        from planned
      )
    )
  );
end
$function$;

comment on function uptuple.status_page(text) is
  'Everything that a status page shows now, as JSON, but for its past days; null if there is no such page. select jsonb_pretty(uptuple.status_page());';

revoke execute on function uptuple.status_page(text) from public;
grant execute on function uptuple.status_page(text) to uptuple_worker, uptuple_operator, uptuple_viewer;
