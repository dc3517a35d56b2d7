-- Which services the public may see, on which page, under which name, and in which order. Nothing else of any service is public.
create view uptuple.public_services as
select
  page.id as page_id,
  page.slug,
  service.id as service_id,
  service.name as service,
  coalesce(own.shown_name, service.name) as shown_name,
  coalesce(whole.shown_name, whole.group_name) as shown_group,
  coalesce(whole.position, own.position) as group_position,
  coalesce(own.position, 0) as position
from uptuple.status_page page
join uptuple.service on service.removed_at is null
left join uptuple.status_page_entry own on own.page_id = page.id and own.service_id = service.id
left join uptuple.status_page_entry whole on whole.page_id = page.id and whole.group_name = service.group_name
where own.id is not null or whole.id is not null;

comment on view uptuple.public_services is
  'The services that the public may see: on which page, under which name. One that a page shows by its group and by itself stands in the group.';

grant select on uptuple.public_services to uptuple_worker, uptuple_operator, uptuple_viewer;
