-- The pages for the public, with what each shows.
create view uptuple.status_pages as
select
  page.slug,
  page.title,
  page.description,
  page.logo is not null as has_logo,
  array(
    select entry.group_name
    from uptuple.status_page_entry entry
    where entry.page_id = page.id and entry.group_name is not null
    order by entry.position, entry.group_name
  ) as groups,
  array(
    select service.name
    from uptuple.status_page_entry entry
    join uptuple.service on service.id = entry.service_id
    where entry.page_id = page.id and service.removed_at is null
    order by entry.position, service.name
  ) as services,
  page.updated_at
from uptuple.status_page page
order by page.slug;

comment on view uptuple.status_pages is 'The pages for the public, each with the groups and services that were chosen for it.';

grant select on uptuple.status_pages to uptuple_worker, uptuple_operator, uptuple_viewer;
